; Blocks of memory of one size, kept for the next who wants one: a page that is written to for
; the first time costs far more than one that is there.

%Blocks = type { i64, ptr, i64, ptr }
; lock, first free block (each begins with the address of the next), bytes of a block,
; address of how many bytes may lie idle (null: as many as there are)

declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)

define internal void @lock(ptr %blocks) nounwind {
entry:
  br label %try
try:
  %before = atomicrmw xchg ptr %blocks, i64 1 seq_cst
  %is_ours = icmp eq i64 %before, 0
  br i1 %is_ours, label %out, label %wait
wait:
  call void @pause()
  br label %try
out:
  ret void
}

define internal void @unlock(ptr %blocks) nounwind {
  store atomic i64 0, ptr %blocks seq_cst, align 8
  ret void
}

; Returns a block that nobody has used; null where there is no memory.
define internal ptr @new_block(i64 %bytes) nounwind {
entry:
  %place = alloca ptr, align 8
  %is_large = icmp uge i64 %bytes, 2097152
  %alignment = select i1 %is_large, i64 2097152, i64 64
  %failed = call i32 @posix_memalign(ptr %place, i64 %alignment, i64 %bytes)
  %is_there = icmp eq i32 %failed, 0
  br i1 %is_there, label %made, label %none
made:
  %block = load ptr, ptr %place, align 8
  br i1 %is_large, label %huge, label %out
huge:
  %advised = call i32 @madvise(ptr %block, i64 %bytes, i32 14)
  br label %out
out:
  ret ptr %block
none:
  ret ptr null
}

define ptr @hlotool_take_block(ptr %blocks) nounwind {
entry:
  %first_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 1
  %bytes_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 2
  %budget_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 3
  %bytes = load i64, ptr %bytes_place, align 8
  call void @lock(ptr %blocks)
  %first = load ptr, ptr %first_place, align 8
  %is_empty = icmp eq ptr %first, null
  br i1 %is_empty, label %empty, label %some
some:
  %second = load ptr, ptr %first, align 8
  store ptr %second, ptr %first_place, align 8
  call void @unlock(ptr %blocks)
  %budget = load ptr, ptr %budget_place, align 8
  %has_budget = icmp ne ptr %budget, null
  br i1 %has_budget, label %pay, label %out
pay:
  %before = atomicrmw add ptr %budget, i64 %bytes seq_cst
  br label %out
out:
  ret ptr %first
empty:
  call void @unlock(ptr %blocks)
  %new = call ptr @new_block(i64 %bytes)
  ret ptr %new
}

define void @hlotool_give_block(ptr %blocks, ptr %block) nounwind {
entry:
  %first_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 1
  %bytes_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 2
  %budget_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 3
  %budget = load ptr, ptr %budget_place, align 8
  %has_budget = icmp ne ptr %budget, null
  br i1 %has_budget, label %ask, label %keep
ask:
  %bytes = load i64, ptr %bytes_place, align 8
  %before = atomicrmw sub ptr %budget, i64 %bytes seq_cst
  %is_allowed = icmp sge i64 %before, %bytes
  br i1 %is_allowed, label %keep, label %drop
drop:
  %after = atomicrmw add ptr %budget, i64 %bytes seq_cst
  call void @free(ptr %block)
  ret void
keep:
  call void @lock(ptr %blocks)
  %first = load ptr, ptr %first_place, align 8
  store ptr %first, ptr %block, align 8
  store ptr %block, ptr %first_place, align 8
  call void @unlock(ptr %blocks)
  ret void
}

; Gives all idle blocks back to the system.
define void @hlotool_free_blocks(ptr %blocks) nounwind {
entry:
  br label %next
next:
  call void @lock(ptr %blocks)
  %first_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 1
  %first = load ptr, ptr %first_place, align 8
  %is_empty = icmp eq ptr %first, null
  br i1 %is_empty, label %out, label %some
some:
  %second = load ptr, ptr %first, align 8
  store ptr %second, ptr %first_place, align 8
  call void @unlock(ptr %blocks)
  %budget_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 3
  %budget = load ptr, ptr %budget_place, align 8
  %has_budget = icmp ne ptr %budget, null
  br i1 %has_budget, label %pay, label %free
pay:
  %bytes_place = getelementptr %Blocks, ptr %blocks, i64 0, i32 2
  %bytes = load i64, ptr %bytes_place, align 8
  %before = atomicrmw add ptr %budget, i64 %bytes seq_cst
  br label %free
free:
  call void @free(ptr %first)
  br label %next
out:
  call void @unlock(ptr %blocks)
  ret void
}

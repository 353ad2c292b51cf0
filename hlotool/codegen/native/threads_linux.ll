; Threads that share the items of a launch, one pool for the whole process.
;
; A launch is cut into shares. `ticket` holds the number of the launch in its high half and how
; many shares nobody has taken yet in its low half; who lowers it by one owns a share. As the
; number of the launch is part of what is compared, a worker that slept in between cannot take a
; share with what it has read of an older launch. The caller takes shares as all others do, and
; then waits for those only that others have begun.

%Job = type { ptr, ptr, i64, i64, i64, i64, i64 }
; function, table, items, items of a share, shares, threads that may take part, control word
%Share = type { ptr, ptr, i64, i64, i64 }
; function, table, begin, end, control word

@ticket = internal global i64 0, align 64
@job = internal global %Job zeroinitializer, align 64
@done = internal global i32 0, align 64     ; shares that workers have finished
@waiting = internal global i32 0, align 4   ; whether the caller sleeps until there are more
@wake = internal global i32 0, align 64     ; changes with every launch
@sleepers = internal global i32 0, align 4
@busy = internal global i32 0, align 64     ; whether a launch is going on
@workers = internal global i32 0, align 4

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i64 @syscall(i64, ...)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal void @sleep_while(ptr %word, i32 %value) nounwind {
  %ignored = call i64 (i64, ...) @syscall(i64 <<futex>>, ptr %word, i32 128, i32 %value, ptr null)
  ret void
}

define internal void @wake_up(ptr %word, i32 %most) nounwind {
  %ignored = call i64 (i64, ...) @syscall(i64 <<futex>>, ptr %word, i32 129, i32 %most)
  ret void
}

; Whether there is a share that a member may take; the caller is member 0.
define internal i1 @is_open(i64 %member) nounwind {
  %ticket = load atomic i64, ptr @ticket seq_cst, align 8
  %left = and i64 %ticket, 4294967295
  %threads_place = getelementptr %Job, ptr @job, i64 0, i32 5
  %threads = load atomic i64, ptr %threads_place monotonic, align 8
  %some = icmp ne i64 %left, 0
  %may = icmp ult i64 %member, %threads
  %open = and i1 %some, %may
  ret i1 %open
}

; Takes a share for a member; false where there is none.
define internal i1 @take(i64 %member, ptr %share) nounwind {
entry:
  %function_place = getelementptr %Job, ptr @job, i64 0, i32 0
  %table_place = getelementptr %Job, ptr @job, i64 0, i32 1
  %count_place = getelementptr %Job, ptr @job, i64 0, i32 2
  %size_place = getelementptr %Job, ptr @job, i64 0, i32 3
  %shares_place = getelementptr %Job, ptr @job, i64 0, i32 4
  %threads_place = getelementptr %Job, ptr @job, i64 0, i32 5
  %control_place = getelementptr %Job, ptr @job, i64 0, i32 6
  br label %again
again:
  %ticket = load atomic i64, ptr @ticket seq_cst, align 8
  %left = and i64 %ticket, 4294967295
  %none_left = icmp eq i64 %left, 0
  br i1 %none_left, label %none, label %some
some:
  %threads = load atomic i64, ptr %threads_place monotonic, align 8
  %may = icmp ult i64 %member, %threads
  br i1 %may, label %read, label %none
read:
  %function = load atomic ptr, ptr %function_place monotonic, align 8
  %table = load atomic ptr, ptr %table_place monotonic, align 8
  %count = load atomic i64, ptr %count_place monotonic, align 8
  %size = load atomic i64, ptr %size_place monotonic, align 8
  %shares = load atomic i64, ptr %shares_place monotonic, align 8
  %control = load atomic i64, ptr %control_place monotonic, align 8
  %rest = sub i64 %ticket, 1
  %swapped = cmpxchg ptr @ticket, i64 %ticket, i64 %rest seq_cst seq_cst, align 8
  %mine = extractvalue { i64, i1 } %swapped, 1
  br i1 %mine, label %taken, label %again
taken:
  %number = sub i64 %shares, %left
  %begin = mul i64 %number, %size
  %behind = add i64 %begin, %size
  %end = call i64 @llvm.umin.i64(i64 %behind, i64 %count)
  %to_table = getelementptr %Share, ptr %share, i64 0, i32 1
  %to_begin = getelementptr %Share, ptr %share, i64 0, i32 2
  %to_end = getelementptr %Share, ptr %share, i64 0, i32 3
  %to_control = getelementptr %Share, ptr %share, i64 0, i32 4
  store ptr %function, ptr %share, align 8
  store ptr %table, ptr %to_table, align 8
  store i64 %begin, ptr %to_begin, align 8
  store i64 %end, ptr %to_end, align 8
  store i64 %control, ptr %to_control, align 8
  ret i1 true
none:
  ret i1 false
}

define internal void @run(ptr %share) {
  %from_table = getelementptr %Share, ptr %share, i64 0, i32 1
  %from_begin = getelementptr %Share, ptr %share, i64 0, i32 2
  %from_end = getelementptr %Share, ptr %share, i64 0, i32 3
  %function = load ptr, ptr %share, align 8
  %table = load ptr, ptr %from_table, align 8
  %begin = load i64, ptr %from_begin, align 8
  %end = load i64, ptr %from_end, align 8
  call void %function(ptr %table, i64 %begin, i64 %end)
  ret void
}

; What a worker does for ever: look for shares, spin for some microseconds, sleep.
define internal ptr @work(ptr %number) {
entry:
  %share = alloca %Share, align 8
  %member = ptrtoint ptr %number to i64
  br label %look
look:
  %rounds = phi i32 [ 0, %entry ], [ %more, %spin ], [ 0, %next ]
  %found = call i1 @take(i64 %member, ptr %share)
  br i1 %found, label %one, label %idle
one:
  %from_control = getelementptr %Share, ptr %share, i64 0, i32 4
  %word = load i64, ptr %from_control, align 8
  call void @set_control(i64 %word)
  call void @run(ptr %share)
  %before = atomicrmw add ptr @done, i32 1 seq_cst
  %waiting = load atomic i32, ptr @waiting seq_cst, align 4
  %is_awaited = icmp ne i32 %waiting, 0
  br i1 %is_awaited, label %tell, label %next
tell:
  call void @wake_up(ptr @done, i32 1)
  br label %next
idle:
  %more = add i32 %rounds, 1
  %is_fresh = icmp ult i32 %more, <<spins>>
  br i1 %is_fresh, label %spin, label %tired
spin:
  call void @pause()
  br label %look
tired:
  ; Whoever launches after `seen` was read has changed `wake`, so that nothing is slept through.
  %seen = load atomic i32, ptr @wake seq_cst, align 4
  %is_late = call i1 @is_open(i64 %member)
  br i1 %is_late, label %next, label %sleep
sleep:
  %others = atomicrmw add ptr @sleepers, i32 1 seq_cst
  call void @sleep_while(ptr @wake, i32 %seen)
  %these = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  br label %next
next:
  br label %look
}

; Starts workers until there are so many, without signals: those are for the caller's threads.
define internal void @hire(i64 %wanted) nounwind {
entry:
  %thread = alloca i64, align 8
  %all = alloca [128 x i8], align 8
  %old = alloca [128 x i8], align 8
  %first = load atomic i32, ptr @workers monotonic, align 4
  %have = zext i32 %first to i64
  %enough = icmp uge i64 %have, %wanted
  br i1 %enough, label %out, label %start
start:
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  %blocked = call i32 @pthread_sigmask(i32 2, ptr %all, ptr %old)
  br label %create
create:
  %now = phi i64 [ %have, %start ], [ %more, %created ]
  %more = add i64 %now, 1
  %member = inttoptr i64 %more to ptr
  %failed = call i32 @pthread_create(ptr %thread, ptr null, ptr @work, ptr %member)
  %is_created = icmp eq i32 %failed, 0
  br i1 %is_created, label %created, label %done
created:
  %name = load i64, ptr %thread, align 8
  %detached = call i32 @pthread_detach(i64 %name)
  %count = trunc i64 %more to i32
  store atomic i32 %count, ptr @workers monotonic, align 4
  %is_last = icmp uge i64 %more, %wanted
  br i1 %is_last, label %done, label %create
done:
  %restored = call i32 @pthread_sigmask(i32 2, ptr %old, ptr null)
  br label %out
out:
  ret void
}

; Writes the job down and lets others see it; returns the number of shares.
define internal i64 @publish(ptr %function, ptr %table, i64 %count, i64 %grain, i64 %threads) {
  %rounded = add i64 %count, %grain
  %less = sub i64 %rounded, 1
  %pieces = udiv i64 %less, %grain
  %parts = mul i64 %threads, 16
  %few = udiv i64 %pieces, %parts
  %together = call i64 @llvm.umax.i64(i64 %few, i64 1)
  %size = mul i64 %together, %grain
  %up = add i64 %count, %size
  %up_less = sub i64 %up, 1
  %shares = udiv i64 %up_less, %size
  %function_place = getelementptr %Job, ptr @job, i64 0, i32 0
  %table_place = getelementptr %Job, ptr @job, i64 0, i32 1
  %count_place = getelementptr %Job, ptr @job, i64 0, i32 2
  %size_place = getelementptr %Job, ptr @job, i64 0, i32 3
  %shares_place = getelementptr %Job, ptr @job, i64 0, i32 4
  %threads_place = getelementptr %Job, ptr @job, i64 0, i32 5
  %control_place = getelementptr %Job, ptr @job, i64 0, i32 6
  %control = call i64 @control()
  store atomic ptr %function, ptr %function_place monotonic, align 8
  store atomic ptr %table, ptr %table_place monotonic, align 8
  store atomic i64 %count, ptr %count_place monotonic, align 8
  store atomic i64 %size, ptr %size_place monotonic, align 8
  store atomic i64 %shares, ptr %shares_place monotonic, align 8
  store atomic i64 %threads, ptr %threads_place monotonic, align 8
  store atomic i64 %control, ptr %control_place monotonic, align 8
  store atomic i32 0, ptr @done seq_cst, align 4
  %old = load atomic i64, ptr @ticket monotonic, align 8
  %launch = add i64 %old, 4294967296
  %ticket = or i64 %launch, %shares
  store atomic i64 %ticket, ptr @ticket seq_cst, align 8
  ret i64 %shares
}

define internal void @call_workers(i64 %threads) {
entry:
  %changed = atomicrmw add ptr @wake, i32 1 seq_cst
  %sleepers = load atomic i32, ptr @sleepers seq_cst, align 4
  %all_awake = icmp eq i32 %sleepers, 0
  br i1 %all_awake, label %out, label %call
call:
  ; The kernel chooses whom to wake: where not all may take part, all must be asked.
  %hired = load atomic i32, ptr @workers monotonic, align 4
  %members = trunc i64 %threads to i32
  %helpers = sub i32 %members, 1
  %is_fewer = icmp ult i32 %helpers, %hired
  %most = select i1 %is_fewer, i32 2147483647, i32 %helpers
  call void @wake_up(ptr @wake, i32 %most)
  br label %out
out:
  ret void
}

; Waits until workers have finished so many shares.
define internal void @wait_for(i32 %wanted) {
entry:
  br label %look
look:
  %rounds = phi i32 [ 0, %entry ], [ %more, %spin ]
  %now = load atomic i32, ptr @done seq_cst, align 4
  %is_done = icmp eq i32 %now, %wanted
  br i1 %is_done, label %out, label %idle
idle:
  %more = add i32 %rounds, 1
  %is_fresh = icmp ult i32 %more, <<spins>>
  br i1 %is_fresh, label %spin, label %tired
spin:
  call void @pause()
  br label %look
tired:
  store atomic i32 1, ptr @waiting seq_cst, align 4
  br label %check
check:
  %seen = load atomic i32, ptr @done seq_cst, align 4
  %is_all = icmp eq i32 %seen, %wanted
  br i1 %is_all, label %rested, label %sleep
sleep:
  call void @sleep_while(ptr @done, i32 %seen)
  br label %check
rested:
  store atomic i32 0, ptr @waiting seq_cst, align 4
  br label %out
out:
  ret void
}

; Runs a function over `count` items, in ranges that begin at multiples of `grain`. `threads` is
; the address of how many threads may take part. While another launch goes on, the caller does
; all by itself.
define void @hlotool_parallel(ptr %threads, ptr %function, ptr %table, i64 %count, i64 %grain) {
entry:
  %share = alloca %Share, align 8
  %most = load i64, ptr %threads, align 8
  %above = add i64 %count, %grain
  %above_less = sub i64 %above, 1
  %pieces = udiv i64 %above_less, %grain
  %members = call i64 @llvm.umin.i64(i64 %most, i64 %pieces)
  %is_lone = icmp ule i64 %members, 1
  br i1 %is_lone, label %alone, label %ask
ask:
  %swapped = cmpxchg ptr @busy, i32 0, i32 1 seq_cst seq_cst, align 4
  %is_ours = extractvalue { i32, i1 } %swapped, 1
  br i1 %is_ours, label %together, label %alone
alone:
  call void %function(ptr %table, i64 0, i64 %count)
  br label %out
together:
  %wanted = sub i64 %members, 1
  call void @hire(i64 %wanted)
  %shares = call i64 @publish(
    ptr %function, ptr %table, i64 %count, i64 %grain, i64 %members)
  call void @call_workers(i64 %members)
  br label %look
look:
  %mine = phi i64 [ 0, %together ], [ %more, %one ]
  %found = call i1 @take(i64 0, ptr %share)
  br i1 %found, label %one, label %rest
one:
  call void @run(ptr %share)
  %more = add i64 %mine, 1
  br label %look
rest:
  %theirs = sub i64 %shares, %mine
  %awaited = trunc i64 %theirs to i32
  call void @wait_for(i32 %awaited)
  store atomic i32 0, ptr @busy seq_cst, align 4
  br label %out
out:
  ret void
}

; After a fork there are no workers any more: the next launch starts new ones.
define void @hlotool_forget_workers() {
  %ticket = load atomic i64, ptr @ticket seq_cst, align 8
  %launch = and i64 %ticket, -4294967296
  store atomic i64 %launch, ptr @ticket seq_cst, align 8
  store atomic i32 0, ptr @done seq_cst, align 4
  store atomic i32 0, ptr @waiting seq_cst, align 4
  store atomic i32 0, ptr @sleepers seq_cst, align 4
  store atomic i32 0, ptr @workers seq_cst, align 4
  store atomic i32 0, ptr @busy seq_cst, align 4
  ret void
}

define i64 @hlotool_workers() {
  %count = load atomic i32, ptr @workers seq_cst, align 4
  %wide = zext i32 %count to i64
  ret i64 %wide
}

; Arrays of numpy: whether those of arguments are as the module wants them, and those of results.

%Array = type { [<<head>> x i8], ptr, i32, ptr, ptr, ptr, ptr, i32 }
; head of an object, data, rank, sizes, strides in bytes, base, type of elements, flags
%Leaf = type { ptr, i64, ptr, ptr, i64, ptr, i64, i64 }
; type of elements, rank, sizes, strides (null: any), bytes; and of results: blocks (null: memory
; of numpy), the argument whose memory they take (-1: none), whether that is given away
%Binding = type { ptr, ptr, i64, ptr, i64, ptr, ptr, i64, ptr, i64, i64, ptr, ptr, ptr }
; entry, context, number of arguments, leaves of arguments, number of results, leaves of results,
; convert, whether there is one result and no tuple, blocks of temporaries (null: none), whether
; others may run meanwhile, control word, table of numpy, host calls, owner
%Numpy = type { ptr, ptr, ptr, ptr }
; the type of arrays, PyArray_NewFromDescr, PyArray_SetBaseObject, None

declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare ptr @PyCapsule_New(ptr, ptr, ptr)
declare i32 @PyCapsule_SetContext(ptr, ptr)
declare ptr @PyCapsule_GetContext(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyErr_NoMemory()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Whether an object is an array that lies as a leaf says.
define internal i1 @fits(ptr %array, ptr %leaf, ptr %numpy) {
entry:
  %type_place = getelementptr i8, ptr %array, i64 <<type>>
  %type = load ptr, ptr %type_place, align 8
  %array_type = load ptr, ptr %numpy, align 8
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %array_, label %no
array_:
  %descr_place = getelementptr %Array, ptr %array, i64 0, i32 6
  %descr = load ptr, ptr %descr_place, align 8
  %wanted_descr = load ptr, ptr %leaf, align 8
  %same_descr = icmp eq ptr %descr, %wanted_descr
  %rank_place = getelementptr %Array, ptr %array, i64 0, i32 2
  %rank_32 = load i32, ptr %rank_place, align 4
  %rank = sext i32 %rank_32 to i64
  %wanted_rank_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 1
  %wanted_rank = load i64, ptr %wanted_rank_place, align 8
  %same_rank = icmp eq i64 %rank, %wanted_rank
  %flags_place = getelementptr %Array, ptr %array, i64 0, i32 7
  %flags = load i32, ptr %flags_place, align 4
  %aligned = and i32 %flags, 256
  %is_aligned = icmp ne i32 %aligned, 0
  %both = and i1 %same_descr, %same_rank
  %all = and i1 %both, %is_aligned
  br i1 %all, label %sizes, label %no
sizes:
  %sizes_place = getelementptr %Array, ptr %array, i64 0, i32 3
  %sizes_of = load ptr, ptr %sizes_place, align 8
  %strides_place = getelementptr %Array, ptr %array, i64 0, i32 4
  %strides_of = load ptr, ptr %strides_place, align 8
  %wanted_sizes_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 2
  %wanted_sizes = load ptr, ptr %wanted_sizes_place, align 8
  %wanted_strides_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 3
  %wanted_strides = load ptr, ptr %wanted_strides_place, align 8
  %any_strides = icmp eq ptr %wanted_strides, null
  br label %dimension
dimension:
  %number = phi i64 [ 0, %sizes ], [ %next, %good ]
  %is_end = icmp uge i64 %number, %rank
  br i1 %is_end, label %yes, label %size
size:
  %one_size_place = getelementptr i64, ptr %sizes_of, i64 %number
  %one_size = load i64, ptr %one_size_place, align 8
  %wanted_size_place = getelementptr i64, ptr %wanted_sizes, i64 %number
  %wanted_size = load i64, ptr %wanted_size_place, align 8
  %same_size = icmp eq i64 %one_size, %wanted_size
  br i1 %same_size, label %stride, label %no
stride:
  ; The stride of a dimension of one element says nothing.
  %is_one = icmp eq i64 %one_size, 1
  %skips = or i1 %is_one, %any_strides
  br i1 %skips, label %good, label %compare
compare:
  %one_stride_place = getelementptr i64, ptr %strides_of, i64 %number
  %one_stride = load i64, ptr %one_stride_place, align 8
  %wanted_stride_place = getelementptr i64, ptr %wanted_strides, i64 %number
  %wanted_stride = load i64, ptr %wanted_stride_place, align 8
  %same_stride = icmp eq i64 %one_stride, %wanted_stride
  br i1 %same_stride, label %good, label %no
good:
  %next = add i64 %number, 1
  br label %dimension
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @all_fit(ptr %binding, ptr %items) {
entry:
  %count_place = getelementptr %Binding, ptr %binding, i64 0, i32 2
  %count = load i64, ptr %count_place, align 8
  %leaves_place = getelementptr %Binding, ptr %binding, i64 0, i32 3
  %leaves = load ptr, ptr %leaves_place, align 8
  %numpy_place = getelementptr %Binding, ptr %binding, i64 0, i32 11
  %numpy = load ptr, ptr %numpy_place, align 8
  br label %look
look:
  %number = phi i64 [ 0, %entry ], [ %next, %good ]
  %is_end = icmp uge i64 %number, %count
  br i1 %is_end, label %yes, label %one
one:
  %item_place = getelementptr ptr, ptr %items, i64 %number
  %item = load ptr, ptr %item_place, align 8
  %leaf = getelementptr %Leaf, ptr %leaves, i64 %number
  %fit = call i1 @fits(ptr %item, ptr %leaf, ptr %numpy)
  br i1 %fit, label %good, label %no
good:
  %next = add i64 %number, 1
  br label %look
yes:
  ret i1 true
no:
  ret i1 false
}

; Called by Python when a result whose memory is a block is gone.
define void @hlotool_result_dies(ptr %capsule) {
  %block = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %blocks = call ptr @PyCapsule_GetContext(ptr %capsule)
  call void @hlotool_give_block(ptr %blocks, ptr %block)
  ret void
}

; A new array of a leaf over some memory (null: of its own), which `base` keeps alive; takes the
; reference to `base`. Null and an exception where there is no memory.
define internal ptr @array_over(ptr %leaf, ptr %numpy, ptr %data, ptr %base) {
entry:
  %type = load ptr, ptr %numpy, align 8
  %make_place = getelementptr %Numpy, ptr %numpy, i64 0, i32 1
  %make = load ptr, ptr %make_place, align 8
  %descr = load ptr, ptr %leaf, align 8
  %rank_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 1
  %rank = load i64, ptr %rank_place, align 8
  %rank_32 = trunc i64 %rank to i32
  %sizes_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 2
  %sizes = load ptr, ptr %sizes_place, align 8
  %strides_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 3
  %strides = load ptr, ptr %strides_place, align 8
  %owns = icmp eq ptr %data, null
  %used_strides = select i1 %owns, ptr null, ptr %strides
  %flags = select i1 %owns, i32 0, i32 1281
  call void @Py_IncRef(ptr %descr)
  %array = call ptr %make(ptr %type, ptr %descr, i32 %rank_32, ptr %sizes,
    ptr %used_strides, ptr %data, i32 %flags, ptr null)
  br i1 %owns, label %out, label %check
check:
  %is_made = icmp ne ptr %array, null
  br i1 %is_made, label %bind, label %failed
bind:
  %set_place = getelementptr %Numpy, ptr %numpy, i64 0, i32 2
  %set = load ptr, ptr %set_place, align 8
  %bound = call i32 %set(ptr %array, ptr %base)
  br label %out
failed:
  call void @Py_DecRef(ptr %base)
  br label %out
out:
  ret ptr %array
}

; A new array of a leaf in a block, which goes back when the array is gone.
define internal ptr @array_in_block(ptr %leaf, ptr %numpy, ptr %blocks) {
entry:
  %block = call ptr @hlotool_take_block(ptr %blocks)
  %is_there = icmp ne ptr %block, null
  br i1 %is_there, label %hold, label %none
hold:
  %capsule = call ptr @PyCapsule_New(ptr %block, ptr null, ptr @hlotool_result_dies)
  %is_held = icmp ne ptr %capsule, null
  br i1 %is_held, label %make, label %lost
make:
  %set = call i32 @PyCapsule_SetContext(ptr %capsule, ptr %blocks)
  %array = call ptr @array_over(ptr %leaf, ptr %numpy, ptr %block, ptr %capsule)
  ret ptr %array
lost:
  call void @hlotool_give_block(ptr %blocks, ptr %block)
  ret ptr null
none:
  %raised = call ptr @PyErr_NoMemory()
  ret ptr null
}

; Whether the memory of an argument may be written to: it can be, and no other argument has it.
define internal i1 @is_free(ptr %binding, ptr %items, i64 %given) {
entry:
  %count_place = getelementptr %Binding, ptr %binding, i64 0, i32 2
  %count = load i64, ptr %count_place, align 8
  %leaves_place = getelementptr %Binding, ptr %binding, i64 0, i32 3
  %leaves = load ptr, ptr %leaves_place, align 8
  %array_place = getelementptr ptr, ptr %items, i64 %given
  %array = load ptr, ptr %array_place, align 8
  %flags_place = getelementptr %Array, ptr %array, i64 0, i32 7
  %flags = load i32, ptr %flags_place, align 4
  %writeable = and i32 %flags, 1024
  %is_writeable = icmp ne i32 %writeable, 0
  %begin_place = getelementptr %Array, ptr %array, i64 0, i32 1
  %begin = load i64, ptr %begin_place, align 8
  %bytes_place = getelementptr %Leaf, ptr %leaves, i64 %given, i32 4
  %bytes = load i64, ptr %bytes_place, align 8
  %end = add i64 %begin, %bytes
  br i1 %is_writeable, label %look, label %no
look:
  %number = phi i64 [ 0, %entry ], [ %next, %good ]
  %is_end = icmp uge i64 %number, %count
  br i1 %is_end, label %yes, label %one
one:
  %is_self = icmp eq i64 %number, %given
  br i1 %is_self, label %good, label %other
other:
  %other_place = getelementptr ptr, ptr %items, i64 %number
  %other_array = load ptr, ptr %other_place, align 8
  %other_begin_place = getelementptr %Array, ptr %other_array, i64 0, i32 1
  %other_begin = load i64, ptr %other_begin_place, align 8
  %other_bytes_place = getelementptr %Leaf, ptr %leaves, i64 %number, i32 4
  %other_bytes = load i64, ptr %other_bytes_place, align 8
  %other_end = add i64 %other_begin, %other_bytes
  %starts_before = icmp ult i64 %other_begin, %end
  %ends_behind = icmp ult i64 %begin, %other_end
  %overlaps = and i1 %starts_before, %ends_behind
  br i1 %overlaps, label %no, label %good
good:
  %next = add i64 %number, 1
  br label %look
yes:
  ret i1 true
no:
  ret i1 false
}

; Makes the array of one result; null and an exception where there is no memory.
define internal ptr @result(ptr %binding, ptr %items, i64 %number) {
entry:
  %numpy_place = getelementptr %Binding, ptr %binding, i64 0, i32 11
  %numpy = load ptr, ptr %numpy_place, align 8
  %leaves_place = getelementptr %Binding, ptr %binding, i64 0, i32 5
  %leaves = load ptr, ptr %leaves_place, align 8
  %leaf = getelementptr %Leaf, ptr %leaves, i64 %number
  %blocks_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 5
  %blocks = load ptr, ptr %blocks_place, align 8
  %shared_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 6
  %shared = load i64, ptr %shared_place, align 8
  %given_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 7
  %given = load i64, ptr %given_place, align 8
  %is_given = icmp ne i64 %given, 0
  br i1 %is_given, label %ask, label %fresh
ask:
  %is_free = call i1 @is_free(ptr %binding, ptr %items, i64 %shared)
  br i1 %is_free, label %reuse, label %fresh
reuse:
  %old_place = getelementptr ptr, ptr %items, i64 %shared
  %old = load ptr, ptr %old_place, align 8
  %old_data_place = getelementptr %Array, ptr %old, i64 0, i32 1
  %old_data = load ptr, ptr %old_data_place, align 8
  call void @Py_IncRef(ptr %old)
  %reused = call ptr @array_over(ptr %leaf, ptr %numpy, ptr %old_data, ptr %old)
  ret ptr %reused
fresh:
  %is_plain = icmp eq ptr %blocks, null
  br i1 %is_plain, label %plain, label %pooled
plain:
  %plain_array = call ptr @array_over(ptr %leaf, ptr %numpy, ptr null, ptr null)
  br label %made
pooled:
  %pooled_array = call ptr @array_in_block(ptr %leaf, ptr %numpy, ptr %blocks)
  br label %made
made:
  %array = phi ptr [ %plain_array, %plain ], [ %pooled_array, %pooled ]
  %is_made = icmp ne ptr %array, null
  %is_shared = icmp sge i64 %shared, 0
  %copies = and i1 %is_made, %is_shared
  br i1 %copies, label %copy, label %out
copy:
  ; The module writes where the argument lies, so it gets a copy to write to.
  %bytes_place = getelementptr %Leaf, ptr %leaf, i64 0, i32 4
  %bytes = load i64, ptr %bytes_place, align 8
  %to_place = getelementptr %Array, ptr %array, i64 0, i32 1
  %to = load ptr, ptr %to_place, align 8
  %source_place = getelementptr ptr, ptr %items, i64 %shared
  %source = load ptr, ptr %source_place, align 8
  %from_place = getelementptr %Array, ptr %source, i64 0, i32 1
  %from = load ptr, ptr %from_place, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  br label %out
out:
  ret ptr %array
}

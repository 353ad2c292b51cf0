; The call from Python, and what happens around the entry of a module.
;
; The function that Python sees has as `self` a capsule with a binding: all that there is to know
; of one compiled module. Arguments that are arrays just as the module wants them are taken as they
; lie. All others go to the function `convert`, which returns a tuple of such arrays or raises.

declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @PyErr_CheckSignals()
declare ptr @PyErr_Occurred()
declare void @PyErr_BadInternalCall()

define internal void @drop(ptr %objects, i64 %count) {
entry:
  br label %look
look:
  %number = phi i64 [ 0, %entry ], [ %next, %one ]
  %is_end = icmp uge i64 %number, %count
  br i1 %is_end, label %out, label %one
one:
  %place = getelementptr ptr, ptr %objects, i64 %number
  %object = load ptr, ptr %place, align 8
  call void @Py_DecRef(ptr %object)
  %next = add i64 %number, 1
  br label %look
out:
  ret void
}

; Makes what Python gets of the arrays of the results, whose references it takes.
define internal ptr @packed(ptr %binding, ptr %objects, i64 %count) {
entry:
  %single_place = getelementptr %Binding, ptr %binding, i64 0, i32 7
  %single = load i64, ptr %single_place, align 8
  %is_single = icmp ne i64 %single, 0
  br i1 %is_single, label %one, label %many
one:
  %only = load ptr, ptr %objects, align 8
  ret ptr %only
many:
  %tuple = call ptr @PyTuple_New(i64 %count)
  %is_made = icmp ne ptr %tuple, null
  br i1 %is_made, label %look, label %failed
failed:
  call void @drop(ptr %objects, i64 %count)
  ret ptr null
look:
  %number = phi i64 [ 0, %many ], [ %next, %put ]
  %is_end = icmp uge i64 %number, %count
  br i1 %is_end, label %filled, label %put
put:
  %place = getelementptr ptr, ptr %objects, i64 %number
  %object = load ptr, ptr %place, align 8
  %ignored = call i32 @PyTuple_SetItem(ptr %tuple, i64 %number, ptr %object)
  %next = add i64 %number, 1
  br label %look
filled:
  ret ptr %tuple
}

; Runs the entry, with the control word that it wants; true where it says that it has failed.
define internal i1 @enter(ptr %binding, ptr %arguments, ptr %results, ptr %temporaries) {
entry:
  %code = load ptr, ptr %binding, align 8
  %context_place = getelementptr %Binding, ptr %binding, i64 0, i32 1
  %context = load ptr, ptr %context_place, align 8
  %release_place = getelementptr %Binding, ptr %binding, i64 0, i32 9
  %release = load i64, ptr %release_place, align 8
  %word_place = getelementptr %Binding, ptr %binding, i64 0, i32 10
  %word = load i64, ptr %word_place, align 8
  %releases = icmp ne i64 %release, 0
  br i1 %releases, label %let, label %start
let:
  %thread = call ptr @PyEval_SaveThread()
  br label %start
start:
  %held = phi ptr [ null, %entry ], [ %thread, %let ]
  %before = call i64 @control()
  call void @set_control(i64 %word)
  %failed = call i32 %code(ptr %context, ptr %arguments, ptr %results, ptr %temporaries)
  call void @set_control(i64 %before)
  br i1 %releases, label %take, label %out
take:
  call void @PyEval_RestoreThread(ptr %held)
  br label %out
out:
  %is_failed = icmp ne i32 %failed, 0
  ret i1 %is_failed
}

; Whether Python has a signal to act on, as Ctrl-C is; the exception is then set.
define internal i1 @is_interrupted() {
  %state = call i32 @PyGILState_Ensure()
  %found = call i32 @PyErr_CheckSignals()
  call void @PyGILState_Release(i32 %state)
  %is_set = icmp ne i32 %found, 0
  ret i1 %is_set
}

; Host calls see the arithmetic that everybody has: the state is the binding. Call -1 asks
; whether a long loop should go on.
define i32 @hlotool_host_call(ptr %binding, i64 %number, ptr %addresses) {
entry:
  %host_place = getelementptr %Binding, ptr %binding, i64 0, i32 12
  %host = load ptr, ptr %host_place, align 8
  %before = call i64 @control()
  call void @set_control(i64 <<control>>)
  %is_poll = icmp eq i64 %number, -1
  br i1 %is_poll, label %poll, label %call
poll:
  %is_over = call i1 @is_interrupted()
  br i1 %is_over, label %out, label %call
call:
  %answer = call i32 %host(ptr %binding, i64 %number, ptr %addresses)
  br label %out
out:
  %failed = phi i32 [ 1, %poll ], [ %answer, %call ]
  call void @set_control(i64 %before)
  ret i32 %failed
}

; Runs the module on arrays that fit. None where a host call has failed, which knows why.
define internal ptr @run_module(ptr %binding, ptr %items) {
entry:
  %argument_count_place = getelementptr %Binding, ptr %binding, i64 0, i32 2
  %argument_count = load i64, ptr %argument_count_place, align 8
  %result_count_place = getelementptr %Binding, ptr %binding, i64 0, i32 4
  %result_count = load i64, ptr %result_count_place, align 8
  %blocks_place = getelementptr %Binding, ptr %binding, i64 0, i32 8
  %blocks = load ptr, ptr %blocks_place, align 8
  %numpy_place = getelementptr %Binding, ptr %binding, i64 0, i32 11
  %numpy = load ptr, ptr %numpy_place, align 8
  %arguments = alloca ptr, i64 %argument_count, align 8
  %results = alloca ptr, i64 %result_count, align 8
  %objects = alloca ptr, i64 %result_count, align 8
  br label %argument
argument:
  %argument_number = phi i64 [ 0, %entry ], [ %next_argument, %one_argument ]
  %no_argument = icmp uge i64 %argument_number, %argument_count
  br i1 %no_argument, label %result, label %one_argument
one_argument:
  %item_place = getelementptr ptr, ptr %items, i64 %argument_number
  %item = load ptr, ptr %item_place, align 8
  %data_place = getelementptr %Array, ptr %item, i64 0, i32 1
  %data = load ptr, ptr %data_place, align 8
  %entry_place = getelementptr ptr, ptr %arguments, i64 %argument_number
  store ptr %data, ptr %entry_place, align 8
  %next_argument = add i64 %argument_number, 1
  br label %argument
result:
  %number = phi i64 [ 0, %argument ], [ %next, %made ]
  %no_result = icmp uge i64 %number, %result_count
  br i1 %no_result, label %memory, label %one_result
one_result:
  %object = call ptr @result(ptr %binding, ptr %items, i64 %number)
  %is_made = icmp ne ptr %object, null
  br i1 %is_made, label %made, label %failed
failed:
  call void @drop(ptr %objects, i64 %number)
  ret ptr null
made:
  %object_place = getelementptr ptr, ptr %objects, i64 %number
  store ptr %object, ptr %object_place, align 8
  %array_data_place = getelementptr %Array, ptr %object, i64 0, i32 1
  %array_data = load ptr, ptr %array_data_place, align 8
  %result_place = getelementptr ptr, ptr %results, i64 %number
  store ptr %array_data, ptr %result_place, align 8
  %next = add i64 %number, 1
  br label %result
memory:
  %needs_none = icmp eq ptr %blocks, null
  br i1 %needs_none, label %start, label %take
take:
  %block = call ptr @hlotool_take_block(ptr %blocks)
  %is_there = icmp ne ptr %block, null
  br i1 %is_there, label %start, label %none
none:
  %raised = call ptr @PyErr_NoMemory()
  call void @drop(ptr %objects, i64 %result_count)
  ret ptr null
start:
  %temporaries = phi ptr [ null, %memory ], [ %block, %take ]
  %is_failed = call i1 @enter(ptr %binding, ptr %arguments, ptr %results, ptr %temporaries)
  br i1 %needs_none, label %check, label %give
give:
  call void @hlotool_give_block(ptr %blocks, ptr %temporaries)
  br label %check
check:
  br i1 %is_failed, label %stopped, label %good
stopped:
  call void @drop(ptr %objects, i64 %result_count)
  %error = call ptr @PyErr_Occurred()
  %is_raised = icmp ne ptr %error, null
  br i1 %is_raised, label %interrupted, label %answered
interrupted:
  ret ptr null
answered:
  %nothing_place = getelementptr %Numpy, ptr %numpy, i64 0, i32 3
  %nothing = load ptr, ptr %nothing_place, align 8
  call void @Py_IncRef(ptr %nothing)
  ret ptr %nothing
good:
  %found = call ptr @packed(ptr %binding, ptr %objects, i64 %result_count)
  ret ptr %found
}

; Runs the module on what `convert` makes of the arguments.
define internal ptr @run_converted(ptr %binding, ptr %given, i64 %given_count) {
entry:
  %count_place = getelementptr %Binding, ptr %binding, i64 0, i32 2
  %count = load i64, ptr %count_place, align 8
  %convert_place = getelementptr %Binding, ptr %binding, i64 0, i32 6
  %convert = load ptr, ptr %convert_place, align 8
  %items = alloca ptr, i64 %count, align 8
  %tuple = call ptr @PyObject_Vectorcall(
    ptr %convert, ptr %given, i64 %given_count, ptr null)
  %is_made = icmp ne ptr %tuple, null
  br i1 %is_made, label %look, label %out
look:
  %number = phi i64 [ 0, %entry ], [ %next, %one ]
  %is_end = icmp uge i64 %number, %count
  br i1 %is_end, label %check, label %one
one:
  %item = call ptr @PyTuple_GetItem(ptr %tuple, i64 %number)
  %place = getelementptr ptr, ptr %items, i64 %number
  store ptr %item, ptr %place, align 8
  %next = add i64 %number, 1
  %is_there = icmp ne ptr %item, null
  br i1 %is_there, label %look, label %dropped
check:
  %fit = call i1 @all_fit(ptr %binding, ptr %items)
  br i1 %fit, label %run, label %wrong
run:
  %found = call ptr @run_module(ptr %binding, ptr %items)
  call void @Py_DecRef(ptr %tuple)
  ret ptr %found
wrong:
  call void @PyErr_BadInternalCall()
  br label %dropped
dropped:
  call void @Py_DecRef(ptr %tuple)
  br label %out
out:
  ret ptr null
}

; The function that Python sees.
define ptr @hlotool_call(ptr %self, ptr %items, i64 %count) {
entry:
  %binding = call ptr @PyCapsule_GetPointer(ptr %self, ptr null)
  %wanted_place = getelementptr %Binding, ptr %binding, i64 0, i32 2
  %wanted = load i64, ptr %wanted_place, align 8
  %is_count = icmp eq i64 %count, %wanted
  br i1 %is_count, label %check, label %convert
check:
  %fit = call i1 @all_fit(ptr %binding, ptr %items)
  br i1 %fit, label %run, label %convert
run:
  %found = call ptr @run_module(ptr %binding, ptr %items)
  ret ptr %found
convert:
  %converted = call ptr @run_converted(ptr %binding, ptr %items, i64 %count)
  ret ptr %converted
}

; Called by Python when the function is gone: lets go of what keeps the binding alive.
define void @hlotool_binding_dies(ptr %capsule) {
  %binding = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr null)
  %owner_place = getelementptr %Binding, ptr %binding, i64 0, i32 13
  %owner = load ptr, ptr %owner_place, align 8
  call void @Py_DecRef(ptr %owner)
  ret void
}

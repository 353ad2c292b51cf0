; Where it is not known how threads wait, the caller does all.

define void @hlotool_parallel(ptr %threads, ptr %function, ptr %table, i64 %count, i64 %grain) {
  call void %function(ptr %table, i64 0, i64 %count)
  ret void
}

define void @hlotool_forget_workers() {
  ret void
}

define i64 @hlotool_workers() {
  ret i64 0
}

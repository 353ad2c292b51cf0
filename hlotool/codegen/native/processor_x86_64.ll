; What only this processor has: the control word of its arithmetic (MXCSR), and how to wait.

declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare void @llvm.x86.sse2.pause()

define internal i64 @control() alwaysinline nounwind {
  %place = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %word = load i32, ptr %place, align 4
  %wide = zext i32 %word to i64
  ret i64 %wide
}

define internal void @set_control(i64 %wide) alwaysinline nounwind {
  %place = alloca i32, align 4
  %word = trunc i64 %wide to i32
  store i32 %word, ptr %place, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}

define internal void @pause() alwaysinline nounwind {
  call void @llvm.x86.sse2.pause()
  ret void
}

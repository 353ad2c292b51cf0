; What only this processor has: the control word of its arithmetic (FPCR), and how to wait.

declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
declare void @llvm.aarch64.hint(i32)

define internal i64 @control() alwaysinline nounwind {
  %word = call i64 @llvm.aarch64.get.fpcr()
  ret i64 %word
}

define internal void @set_control(i64 %word) alwaysinline nounwind {
  call void @llvm.aarch64.set.fpcr(i64 %word)
  ret void
}

define internal void @pause() alwaysinline nounwind {
  call void @llvm.aarch64.hint(i32 1)
  ret void
}

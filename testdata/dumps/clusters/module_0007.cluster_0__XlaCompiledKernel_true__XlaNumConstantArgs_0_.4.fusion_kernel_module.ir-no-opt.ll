define void @fusion() {
  ret void
}

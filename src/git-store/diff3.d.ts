declare module 'diff3' {
  /** @returns lines that both have or that one changed, and places that both changed, in their order */
  function diff3Merge(
    ours: readonly string[],
    base: readonly string[],
    theirs: readonly string[],
  ): readonly { readonly ok?: readonly string[]; readonly conflict?: object }[]
  export = diff3Merge
}

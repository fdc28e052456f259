/** For the next process: a package may be what ended this one. */
export interface PackageMarks {
  /**
   * Count of consecutive processes that ended while they observed it, and whether this one must
   * skip it.
   * @param key of the package with its content
   */
  getEndings(key: string): { readonly count: number; readonly isRefused: boolean }
  /** Never throws: without a disk nothing is marked. */
  begin(keys: readonly string[]): Promise<void>
  end(keys: readonly string[]): Promise<void>
}

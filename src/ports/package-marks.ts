/** Which packages a process observes, where the next process finds it: it may be what ended this one. */
export interface PackageMarks {
  /**
   * How many processes in a row ended while they observed it, and whether this process is to leave it alone.
   * @param key of the package with its content
   */
  endingsOf(key: string): { readonly count: number; readonly isRefused: boolean }
  /** Marks packages that this process has not observed yet. Never throws: without a disk nothing is marked. */
  begin(keys: readonly string[]): Promise<void>
  /** Takes their marks away: the process is still there. */
  end(keys: readonly string[]): Promise<void>
}

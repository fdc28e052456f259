/** Symbolic links (`120000`) and submodules (`160000`) are never followed. */
export type FileMode = '100644' | '100755' | '120000' | '160000'

/** The content is empty if the file cannot be a manifest. */
export interface PackageFile {
  readonly path: string
  readonly content: Uint8Array
  readonly mode: FileMode
}

export type PackageFiles = readonly PackageFile[]

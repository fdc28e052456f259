/** File mode in git. A symbolic link (`120000`) and a submodule (`160000`) are listed and never followed. */
export type FileMode = '100644' | '100755' | '120000' | '160000'

/** A file of a folder of a commit. The content is empty where the file cannot be a manifest. */
export interface PackageFile {
  /** Relative to the folder, with `/`. */
  readonly path: string
  readonly content: Uint8Array
  readonly mode: FileMode
}

/** Sorted by path, by code unit. */
export type PackageFiles = readonly PackageFile[]

/** As git has it. A symbolic link (`120000`) and a submodule (`160000`) are listed and never followed. */
export type FileMode = '100644' | '100755' | '120000' | '160000'

/** A file of a package (or of any folder of a commit), as bytes. What cannot be a manifest is listed, and its content is empty. */
export interface PackageFile {
  /** Relative to the folder that was read, with `/`. */
  readonly path: string
  readonly content: Uint8Array
  readonly mode: FileMode
}

/** Sorted by path, by code unit. */
export type PackageFiles = readonly PackageFile[]

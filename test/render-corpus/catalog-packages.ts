/** The packages of `packages-catalog/`, as trees that kpt can render without fetching an image. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const CATALOG = fileURLToPath(new URL('../../packages-catalog', import.meta.url))

export const CATALOG_PACKAGES: readonly string[] = readdirSync(CATALOG, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()

/** All files of a package by path. */
export function readCatalogPackage(name: string): { readonly [path: string]: string } {
  const folder = join(CATALOG, name)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

const IMAGE = /image: ghcr\.io\/kptdev\/krm-functions-catalog\/([a-z-]+):v\d+\.\d+\.\d+$/gm

/** The same with `exec` and the bare name of the function for each image of the catalog. */
export function withPrograms(files: { readonly [path: string]: string }): {
  readonly [path: string]: string
} {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      path.split('/').at(-1) === 'Kptfile' ? text.replace(IMAGE, 'exec: $1') : text,
    ]),
  )
}

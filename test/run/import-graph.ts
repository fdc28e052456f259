/** Which files a file needs, by the imports in their texts: relative ones, and doors of libraries below `src/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Paths relative to the repository's root, with `/`. */
export interface ImportGraph {
  /** All modules below the folders. */
  readonly files: readonly string[]
  /** The file and all that it imports, directly or not: modules, and files and folders (with a `/` at the end) that they name. */
  closureOf(file: string): ReadonlySet<string>
  textOf(file: string): string
}

/** `import … from './a.ts'`, `export … from './a.ts'`, `import('./a.ts')`, `import './a.ts'`. */
const IMPORT = /(?:\bfrom\s+|\bimport\s*\(?\s*)'(\.{1,2}\/[^']+)'/g
/** `from '@backporch/kyaml/json'` and so on: a door is a file of its name (test/contract/libraries.test.ts). */
const DOOR = /(?:\bfrom\s+|\bimport\s*\(?\s*)'@backporch\/([\w-]+\/[\w-]+)'/g
/** A module that a child process loads, a file of data, or a folder of them. */
const ADDRESS = /\bnew URL\(\s*['`]([^'`$]+)['`$][^)]*\bimport\.meta\.url/g

/** @param folders below `root` */
export function readImportGraph(root: string, folders: readonly string[]): ImportGraph {
  const files = folders.flatMap((folder) => findModules(root, folder)).sort()
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const imports = new Map<string, readonly string[]>()
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file)
    if (known !== undefined) return known
    const text = texts.get(file) ?? ''
    const doors = [...text.matchAll(DOOR)].map(([, door = '']) => `src/${door}.ts`)
    const found = [IMPORT, ADDRESS].flatMap((pattern) =>
      [...text.matchAll(pattern)].map(([, path = '']) => normalize(join(dirname(file), path))),
    )
    const all = [...doors, ...found]
    imports.set(file, all)
    return all
  }
  const closures = new Map<string, ReadonlySet<string>>()
  return {
    files,
    textOf: (file) => texts.get(file) ?? '',
    closureOf: (file) => {
      const known = closures.get(file)
      if (known !== undefined) return known
      const reached = new Set([file])
      for (const each of reached) for (const next of importsOf(each)) reached.add(next)
      closures.set(file, reached)
      return reached
    },
  }
}

function findModules(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() &&
        /\.[cm]?ts$/.test(entry.name) &&
        !entry.parentPath.includes('node_modules'),
    )
    .map((entry) =>
      normalize(join(entry.parentPath, entry.name))
        .slice(normalize(root).length)
        .replace(/^\//, '')
        .replaceAll('\\', '/'),
    )
}

/**
 * A door of a library is a list of exports (docs/adr/0078). esbuild loads all files of a list with each importer of it, so that the program
 * would start with 268 KiB instead of 140. Here each import of a door is an import of the files behind it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Plugin } from 'esbuild'

/** `import { a, type B } from '@backporch/kyaml/text'` */
const IMPORT = /^import \{([^}]*)\} from '@backporch\/([\w-]+\/[\w-]+)'$/gm
/** A line of a list. */
const EXPORT = /^export (?:type )?\{([^}]*)\} from '(\.[^']+)'$/gm

/** @param root of the repository */
export function openDoors(root: string): Plugin {
  const doors = new Map<string, ReadonlyMap<string, string>>()
  const opened = (line: string, names: string, door: string): string => {
    const files = doors.get(door) ?? filesBehind(root, door)
    doors.set(door, files)
    // A door that is a file with code of its own is imported as it is.
    if (!valuesOf(names).every((name) => files.has(nameOf(name)))) return line
    return valuesOf(names)
      .map((name) => `import { ${name} } from ${JSON.stringify(files.get(nameOf(name)))}`)
      .join('; ')
  }
  return {
    name: 'open-doors',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\/(?:src|functions)\/.*\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        return {
          contents: text.replace(IMPORT, (line, names, door) => opened(line, names, door)),
          loader: 'ts',
        }
      }),
  }
}

/** Files of the names that a door lists, types too. @param door `kyaml/text` */
export function filesBehind(root: string, door: string): ReadonlyMap<string, string> {
  const path = join(root, 'src', `${door}.ts`)
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return new Map(
    [...text.matchAll(EXPORT)].flatMap(([, names = '', file = '']) =>
      namesIn(names).map(
        (name) => [name.replace(/^type /, ''), resolve(dirname(path), file)] as const,
      ),
    ),
  )
}

function namesIn(names: string): readonly string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Types have no file at run time. */
function valuesOf(names: string): readonly string[] {
  return namesIn(names).filter((name) => !name.startsWith('type '))
}

/** `a` of `a as b`. */
function nameOf(name: string): string {
  return name.split(' as ')[0] ?? name
}

import { execFileSync } from 'node:child_process'
import { basename, dirname } from 'node:path'
import type { ImportGraph } from './import-graph.ts'

/** A change of these may change the result of every test. */
const OF_ALL =
  /^(package\.json|package-lock\.json|tsconfig\.json|\.npmrc|test\/run\.ts|test\/run\/|\.ci\/)/
/** The branches that a change is compared with; the first that exists. */
const BASES = ['origin/HEAD', 'origin/main', 'main']

/**
 * Files that differ from the base branch, committed or not, and files that git does not know yet. Relative to the root, with `/`.
 * @throws Error of git
 */
export function listChangedFiles(root: string): readonly string[] {
  const git = (...args: readonly string[]): string[] => {
    const text = execFileSync('git', ['-c', 'core.quotePath=false', ...args], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return text.split('\n').filter((line) => line !== '')
  }
  const base = BASES.find((name) => {
    try {
      return git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).length > 0
    } catch {
      return false
    }
  })
  const [from = 'HEAD'] = base === undefined ? [] : git('merge-base', 'HEAD', base)
  return [
    ...new Set([
      ...git('diff', '--name-only', '--no-renames', from),
      ...git('ls-files', '--others', '--exclude-standard'),
    ]),
  ].sort()
}

/**
 * The tests that a change may concern: by the imports, by the files and folders that modules name, and for fixtures and documents also by their
 * names in the texts of the tests.
 */
export function findAffected(
  tests: readonly string[],
  changed: readonly string[],
  graph: ImportGraph,
): readonly string[] {
  if (changed.some((file) => OF_ALL.test(file))) return tests
  const reached = new Set(changed.flatMap((file) => [file, ...foldersOf(file)]))
  const names = changed.filter((file) => !/\.[cm]?ts$/.test(file)).flatMap(namesOf)
  const isReader = (file: string): boolean =>
    isOfTests(file) && names.some((name) => graph.textOf(file).includes(name))
  const readers = new Set(graph.files.filter(isReader))
  return tests.filter((test) =>
    [...graph.closureOf(test)].some((file) => reached.has(file) || readers.has(file)),
  )
}

/** `a/b/` and `a/` of `a/b/c.yaml`. The root is a folder that many name and of which few read everything. */
function foldersOf(file: string): string[] {
  const parts = dirname(file).split('/')
  return parts[0] === '.' ? [] : parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)
}

/** Sources name documents in their comments. */
function isOfTests(file: string): boolean {
  return file.startsWith('test/') || file.endsWith('.test.ts')
}

/** The name of the file, and its last two folders, or its only one, in quotes. */
function namesOf(file: string): string[] {
  const folders = dirname(file).split('/')
  if (folders[0] === '.') return [basename(file)]
  return [basename(file), folders.length > 1 ? folders.slice(-2).join('/') : `'${folders[0]}'`]
}

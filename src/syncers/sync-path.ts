import type { JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { getMetadataText } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { StoredFile, SyncedRepository } from './syncer.ts'

export function createVerdict(
  name: string,
  { folder, retained }: SyncedRepository,
  isInert: (file: StoredFile) => boolean,
): Finding {
  if (retained.length === 0)
    return createPassedFinding(
      `${name} reads ${folder}/, and no file there has a name that it reads`,
    )
  const fix = renameFix(retained)
  const applied = retained.filter((file) => !isInert(file))
  const [first] = applied
  if (first === undefined) {
    const message = `${name} reads ${folder}/, whose files are marked so that it applies none of them now`
    return { check: 'syncer-path', state: 'warning', message, fix }
  }
  const more = applied.length > 1 ? ` and ${applied.length - 1} more` : ''
  const message = `${name} reads ${folder}/ and would apply ${convertToOneLine(first.path)}${more}`
  return { check: 'syncer-path', state: 'failed', code: 'BP1007', message, fix }
}

/** Backporch moves the records itself. */
export function renameFix(files: readonly Pick<StoredFile, 'path' | 'isRecord'>[]): string {
  const own = files.filter(({ isRecord }) => !isRecord)
  const nameOf = (path: string): string =>
    path.endsWith('/policy.yaml')
      ? path.replace(/policy\.yaml$/, 'default.policy')
      : path.replace(/\.(?:ya?ml|json)$/, '.policy')
  const moves = own
    .slice(0, 5)
    .map(({ path }) => `git mv ${convertToOneLine(path)} ${convertToOneLine(nameOf(path))}`)
  const rest = own.length > moves.length ? [`and so on with ${own.length - moves.length} more`] : []
  const records =
    own.length === files.length ? [] : ['the records move with the next proposal of their package']
  return [moves.join(' && '), ...rest, ...records].filter((part) => part !== '').join('; ')
}

export function createPassedFinding(message: string): Finding {
  return { check: 'syncer-path', state: 'passed', message }
}

export function reachesFolder(path: string, folder: string): boolean {
  const clean = cleanPath(path)
  return clean === '' || isInFolder(clean, folder)
}

export function isInFolder(path: string, folder: string): boolean {
  const clean = cleanPath(path)
  return clean === folder || clean.startsWith(`${folder}/`)
}

function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')
}

export function isSameRepository(left: string, right: string): boolean {
  const [one, other] = [normalizeRepositoryLocation(left), normalizeRepositoryLocation(right)]
  return one !== '' && one === other
}

/** `git.example.com/a/b`: the same for every form of one address. */
export function normalizeRepositoryLocation(address: string): string {
  const plain = address
    .replace(/^[a-z+]+:\/\//i, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^(\[[^\]]*\]|[^/:[]+):(?!\d+\/)/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
  return plain.replace(/^([^/]+?)(:\d+)?\//, '$1/').toLowerCase()
}

export function formatOwnTitle(own: JsonObject): string {
  return convertToOneLine(`${getMetadataText(own, 'namespace')}/${getMetadataText(own, 'name')}`)
}

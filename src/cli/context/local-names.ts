import { gitText } from '@backporch/git-store/git-program'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { findPackages, PACKAGE_FILE, rootPackageName } from '@backporch/kpt/package'
import { field, valueAt } from '@backporch/kyaml/field'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { Environment } from '@backporch/system/child-environment'

/** Milliseconds. */
const LONGEST = 800
/** A shell hangs on longer lists. */
const MOST_NAMES = 2_000

/** Of the work tree or HEAD, or of the ledger branch. Never throws, sends no request. */
export async function localNames(
  kind: 'packages' | 'clusters',
  path: string,
  environment: Environment,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), LONGEST)
  try {
    const names =
      kind === 'packages'
        ? await packageNames(path, environment, stop.signal)
        : await clusterNames(path, environment, stop.signal)
    return names.slice(0, MOST_NAMES)
  } catch {
    // Completion cannot show a reason.
    return []
  } finally {
    clearTimeout(timer)
  }
}

async function packageNames(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const files = await gitText(
    ['-C', path, 'ls-tree', '-r', '-z', '--full-tree', 'HEAD'],
    environment,
    signal,
  )
  const kptfiles = files.split('\0').flatMap((line) => {
    const [mode, name] = [line.slice(0, 6), line.slice(line.indexOf('\t') + 1)]
    if (
      (mode !== '100644' && mode !== '100755') ||
      (name !== PACKAGE_FILE && !name.endsWith(`/${PACKAGE_FILE}`))
    )
      return []
    return [{ mode, path: name } as const]
  })
  const paths = findPackages(kptfiles).map((found) => found.path)
  return paths.includes('') ? [await rootName(path, environment, signal)] : paths
}

/** The name in the Kptfile, or `.` if unreadable. */
async function rootName(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  const text = await gitText(
    ['-C', path, 'cat-file', 'blob', `HEAD:${PACKAGE_FILE}`],
    environment,
    signal,
  )
  const metadata = valueAt(parseGoYaml(text, PACKAGE_FILE).documents[0]?.value, [
    field('metadata'),
    field('name'),
  ])
  return typeof metadata === 'string' && /^[a-z0-9/-]+$/.test(metadata)
    ? rootPackageName(metadata)
    : '.'
}

async function clusterNames(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const ref of [`refs/heads/${LEDGER_BRANCH}`, `refs/remotes/origin/${LEDGER_BRANCH}`]) {
    const found = await gitText(
      ['-C', path, 'grep', '-h', '-e', '^  name: ', ref, '--', 'clusters/*/observation.yaml'],
      environment,
      signal,
    )
    const names = found
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [unquoted(line.slice('  name: '.length))]))
    if (names.length > 0) return [...new Set(names)].sort()
  }
  return []
}

/** The ledger's names are plain or in quotes. */
function unquoted(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2')
}

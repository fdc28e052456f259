import { readGitText } from '@backporch/git-store/git-program'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { deriveRootPackageName, findPackages, PACKAGE_FILE } from '@backporch/kpt/package'
import { createFieldStep, findValueAt } from '@backporch/kyaml/field'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import type { Environment } from '@backporch/system/child-environment'

/** Milliseconds. */
const LONGEST = 800
/** A shell hangs on longer lists. */
const MOST_NAMES = 2_000

/** Of the work tree or HEAD, or of the ledger branch. Never throws, sends no request. */
export async function listLocalNames(
  kind: 'packages' | 'clusters',
  path: string,
  environment: Environment,
): Promise<readonly string[]> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), LONGEST)
  try {
    const names =
      kind === 'packages'
        ? await listPackageNames(path, environment, stop.signal)
        : await listClusterNames(path, environment, stop.signal)
    return names.slice(0, MOST_NAMES)
  } catch {
    // Completion cannot show a reason.
    return []
  } finally {
    clearTimeout(timer)
  }
}

async function listPackageNames(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const files = await readGitText(
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
  return paths.includes('') ? [await readRootName(path, environment, signal)] : paths
}

/** The name in the Kptfile, or `.` if unreadable. */
async function readRootName(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  const text = await readGitText(
    ['-C', path, 'cat-file', 'blob', `HEAD:${PACKAGE_FILE}`],
    environment,
    signal,
  )
  const metadata = findValueAt(parseGoYaml(text, PACKAGE_FILE).documents[0]?.value, [
    createFieldStep('metadata'),
    createFieldStep('name'),
  ])
  return typeof metadata === 'string' && /^[a-z0-9/-]+$/.test(metadata)
    ? deriveRootPackageName(metadata)
    : '.'
}

async function listClusterNames(
  path: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<readonly string[]> {
  for (const ref of [`refs/heads/${LEDGER_BRANCH}`, `refs/remotes/origin/${LEDGER_BRANCH}`]) {
    const found = await readGitText(
      ['-C', path, 'grep', '-h', '-e', '^  name: ', ref, '--', 'clusters/*/observation.yaml'],
      environment,
      signal,
    )
    const names = found
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [unquoteText(line.slice('  name: '.length))]))
    if (names.length > 0) return [...new Set(names)].sort()
  }
  return []
}

/** The ledger's names are plain or in quotes. */
function unquoteText(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2')
}

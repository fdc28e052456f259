/** A repository with the demo's packages and a recording of a cluster in which people worked by hand, for the tests of whole runs. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DEMO_FILES } from '../../src/cli/demo/demo-package.ts'
import recordings from '../../src/cli/demo/recordings.json' with { type: 'json' }

/** Makes a bare repository at `path` with one commit on `main`: the demo's packages, and `more` files by their paths. */
export function makePackages(
  path: string,
  environment: NodeJS.ProcessEnv,
  more: Readonly<Record<string, string>> = {},
): void {
  mkdirSync(path, { recursive: true })
  git(path, environment, 'init', '--quiet', '--bare', '--initial-branch=main')
  commitFiles(path, environment, 'main', { ...DEMO_FILES, ...more })
}

/** Adds a commit to a branch of a bare repository, made where it is not there; `null` deletes a file. */
export function commitFiles(
  path: string,
  environment: NodeJS.ProcessEnv,
  branch: string,
  files: Readonly<Record<string, string | null>>,
  from = 'main',
): string {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-work-'))
  try {
    git(folder, environment, 'clone', '--quiet', path, '.')
    const known =
      git(folder, environment, 'branch', '--remotes', '--list', `origin/${branch}`) !== ''
    const empty = git(folder, environment, 'branch', '--remotes') === ''
    if (empty) git(folder, environment, 'checkout', '--quiet', '-b', branch)
    else
      git(
        folder,
        environment,
        'checkout',
        '--quiet',
        '-B',
        branch,
        known ? `origin/${branch}` : `origin/${from}`,
      )
    for (const [name, text] of Object.entries(files)) {
      const file = join(folder, name)
      mkdirSync(dirname(file), { recursive: true })
      if (text === null) rmSync(file)
      else writeFileSync(file, text)
    }
    git(folder, environment, 'add', '--all')
    git(folder, environment, 'commit', '--quiet', '--message', 'files')
    git(folder, environment, 'push', '--quiet', 'origin', `HEAD:refs/heads/${branch}`)
    return git(folder, environment, 'rev-parse', 'HEAD')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes the recording of the edited cluster, `prod`, into a folder. `edit` may change the texts. */
export function writeRecording(
  folder: string,
  edit: (text: string) => string = (text) => text,
): void {
  const files: Readonly<Record<string, unknown>> = { ...recordings.schemas, ...recordings.drifted }
  for (const [path, content] of Object.entries(files))
    write(join(folder, path), edit(JSON.stringify(content)))
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

export function git(cwd: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

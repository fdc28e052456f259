import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import { buildChildEnvironment } from '@backporch/system/child-environment'

interface DiffFile {
  readonly name: string
  readonly git: string
  readonly live: string
}

interface ExternalDiff {
  /** No shell. */
  readonly program: readonly [string, ...string[]]
  readonly files: readonly DiffFile[]
  readonly workingDirectory: string
  readonly environment: { readonly [name: string]: string | undefined }
  /** True: uses the terminal of this process. False: the output is returned. */
  readonly inherit: boolean
}

/**
 * Files are 0600 in a folder 0700, and always removed. The exit code is ignored, because a
 * difference is expected.
 * @throws Failure BP1001 if the program cannot be started
 */
export function runExternalDiff({
  program,
  files,
  workingDirectory,
  environment,
  inherit,
}: ExternalDiff): string {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-diff-'))
  try {
    const sides = (['git', 'live'] as const).map((side) => {
      const path = join(folder, side)
      mkdirSync(path, { mode: 0o700 })
      for (const file of files)
        writeFileSync(join(path, file.name), file[side], { mode: 0o600, flag: 'wx' })
      return path
    })
    const [command, ...args] = program
    const { error, stdout } = spawnSync(command, [...args, ...sides], {
      cwd: workingDirectory,
      env: buildChildEnvironment(environment, 'viewer'),
      stdio: inherit ? 'inherit' : ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    if (error !== undefined) throw createNotStartedFailure(command, error)
    return stdout ?? ''
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function createNotStartedFailure(command: string, cause: Error): Failure {
  return new Failure({
    code: 'BP1001',
    what: `the program ${command} of BACKPORCH_EXTERNAL_DIFF did not run`,
    why: 'code' in cause && cause.code === 'ENOENT' ? 'it is not on the PATH' : cause.message,
    remedy: 'name a program that is installed, or unset BACKPORCH_EXTERNAL_DIFF for a unified diff',
    cause,
  })
}

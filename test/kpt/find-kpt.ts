/** The real kpt, for tests that hold our reading of a package against it. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

let isThere: boolean | undefined

/** Why the tests that need kpt do not run here, or false where they do: the `skip` option of node:test. Asked once in a process. */
export function whyNoKpt(): string | false {
  isThere ??= spawnSync('kpt', ['version'], { stdio: 'ignore' }).status === 0
  return isThere ? false : 'kpt is not on the PATH'
}

export interface KptRun {
  readonly ok: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Runs kpt. Never throws for what kpt says. */
export function runKpt(folder: string, ...args: readonly string[]): KptRun {
  const { status, stdout, stderr } = spawnSync('kpt', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  return { ok: status === 0, stdout, stderr }
}

/** Writes the files into a new folder, gives it to `use`, and removes it. */
export function withFolder<T>(
  files: { readonly [path: string]: string },
  use: (folder: string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-kpt-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

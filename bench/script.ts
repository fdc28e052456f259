/** The script of a cron job without Backporch: `kubectl diff`, a commit, a push, and one request for the pull request. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BenchPackage } from './generate.ts'
import { SYNCER } from './prepare.ts'

export interface Script {
  readonly kubeconfig: string
  /** Made by `prepare`, with a clone in it. */
  readonly folder: string
  readonly token: string
  /** Of the repository on the forge. */
  readonly api: string
}

/** The diff is the whole report: no writer, no risk, and the same drift again in every run. */
const TEXT = `set -eu
git fetch --quiet origin
git switch --quiet --create "drift-$1" origin/main
kubectl diff --server-side --force-conflicts --field-manager=${SYNCER} --concurrency=8 $FOLDERS > drift.diff || test $? = 1
test -s drift.diff
git add drift.diff
git commit --quiet --message "drift $1"
git push --quiet origin "drift-$1"
curl --silent --show-error --fail --output /dev/null --header "Authorization: token $TOKEN" --header 'Content-Type: application/json' \\
  --data "{\\"head\\":\\"drift-$1\\",\\"base\\":\\"main\\",\\"title\\":\\"drift $1\\"}" "$API/pulls"
`

export const runScript = {
  /** Clones the repository, as a cron job finds it. */
  prepare({ folder, token }: Script, remote: string, packages: readonly BenchPackage[]): void {
    mkdirSync(folder, { recursive: true })
    const address = remote.replace('://', `://bench:${token}@`)
    execFileSync('git', ['clone', '--quiet', address, join(folder, 'clone')], { stdio: 'pipe' })
    for (const [key, value] of [
      ['user.name', 'bench'],
      ['user.email', 'bench@example.com'],
    ] as const)
      execFileSync('git', ['config', key, value], { cwd: join(folder, 'clone') })
    folders.set(folder, packages.map(({ path }) => `-f ${path}/manifests`).join(' '))
  },
  /** Rejects when a step fails. */
  async run({ kubeconfig, folder, token, api }: Script, round: number): Promise<void> {
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      KUBECONFIG: kubeconfig,
      TOKEN: token,
      API: api,
      FOLDERS: folders.get(folder),
    }
    await promisify(execFile)('sh', ['-c', TEXT, 'sh', String(round)], {
      cwd: join(folder, 'clone'),
      env,
    })
  },
}

/** Arguments of kubectl by folder. */
const folders = new Map<string, string>()

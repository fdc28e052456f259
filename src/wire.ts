/** Who builds what: the only place where adapters meet the rest. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { BOT, openRepository } from './adapters/git/repository.ts'
import { workTreeState } from './adapters/git/work-tree.ts'
import type { ConnectOptions } from './adapters/kubernetes/connect-cluster.ts'
import { loadInstallationKey } from './adapters/system/installation-key.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import type { ClusterTarget, World } from './cli/world.ts'

declare const BACKPORCH_VERSION: string | undefined

/** Version of the package: put in by the bundler, read from package.json in a checkout. */
export function version(): string {
  if (typeof BACKPORCH_VERSION === 'string') return BACKPORCH_VERSION
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The real world of a process. */
export function wire(process: NodeJS.Process, signal: AbortSignal): World {
  const { env } = process
  const cwd = process.cwd()
  const home = env['HOME'] ?? homedir()
  const keyPath = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'backporch', 'key')
  const cacheDir = env['BACKPORCH_CACHE'] || join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'backporch', 'repositories')
  const token = env['BACKPORCH_TOKEN'] || env['GITHUB_TOKEN'] || env['GITEA_TOKEN']
  return {
    env,
    cwd,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: systemClock,
    version: version(),
    botEmail: BOT.email,
    signal,
    openRepository: (remote, baseBranch) =>
      openRepository({
        remote,
        cacheDir,
        workingDirectory: cwd,
        environment: env,
        ...(token === undefined || token === '' ? {} : { token }),
        ...(baseBranch === undefined ? {} : { baseBranch }),
      }),
    openCluster: async (target) => {
      if (target.live !== undefined) {
        const { openRecordedCluster } = await import('./adapters/kubernetes/recorded-cluster.ts')
        const observedAt = `${systemClock.now().toISOString().slice(0, 19)}Z`
        const reader = openRecordedCluster({
          path: target.live,
          observedAt,
          ...(target.cluster === undefined ? {} : { name: target.cluster }),
        })
        return { reader, close: () => undefined }
      }
      const { connectCluster } = await import('./adapters/kubernetes/connect-cluster.ts')
      return connectCluster(connectOptions(target, env))
    },
    openWriter: async (target) => {
      const { connectClusterWriter } = await import('./adapters/kubernetes/connect-cluster.ts')
      return connectClusterWriter(connectOptions(target, env))
    },
    loadKey: async () => ({ ...(await loadInstallationKey({ value: env['BACKPORCH_KEY'], path: keyPath })), path: keyPath }),
    workTree: (path) => workTreeState(path, signal, env),
    userName: () => userName(cwd),
  }
}

function connectOptions(target: ClusterTarget, environment: NodeJS.ProcessEnv): ConnectOptions {
  return {
    environment,
    clock: systemClock,
    version: version(),
    execAllow: target.execAllow,
    ...(target.kubeconfig === undefined ? {} : { kubeconfig: target.kubeconfig }),
    ...(target.context === undefined ? {} : { context: target.context }),
    ...(target.cluster === undefined ? {} : { name: target.cluster }),
    ...(target.timeout === undefined ? {} : { timeout: target.timeout }),
  }
}

/** Name and email as git has them for this folder; the login name where git has none. */
async function userName(cwd: string): Promise<string> {
  const ask = async (name: string): Promise<string> => {
    try {
      return (await promisify(execFile)('git', ['config', '--get', name], { cwd })).stdout.trim()
    } catch {
      return ''
    }
  }
  const [name, email] = [await ask('user.name'), await ask('user.email')]
  if (name === '' && email === '') return userInfo().username
  return email === '' ? name : name === '' ? email : `${name} <${email}>`
}

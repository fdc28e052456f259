/** Who builds what: the only place where adapters meet the rest. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { LocalForge } from './adapters/forge/local/local-forge.ts'
import { BOT, openRepository } from './adapters/git/repository.ts'
import { workTreeState } from './adapters/git/work-tree.ts'
import type { ConnectOptions } from './adapters/kubernetes/connect-cluster.ts'
import { loadInstallationKey } from './adapters/system/installation-key.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import type { ClusterTarget, Place, World } from './cli/world.ts'

declare const BACKPORCH_VERSION: string | undefined

/** Version of the package: put in by the bundler, read from package.json in a checkout. */
export function version(): string {
  if (typeof BACKPORCH_VERSION === 'string') return BACKPORCH_VERSION
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The real world of a process. */
export function wire(process: NodeJS.Process, signal: AbortSignal): World {
  const { env, stdin, stdout, stderr } = process
  return worldAt({ cwd: process.cwd(), env, clock: systemClock, stdout, stderr }, stdin, signal)
}

function worldAt(place: Place, stdin: World['stdin'], signal: AbortSignal): World {
  const { env, cwd, clock } = place
  const home = env['HOME'] ?? homedir()
  const keyPath = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'backporch', 'key')
  const cacheDir = env['BACKPORCH_CACHE'] || join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'backporch', 'repositories')
  const token = env['BACKPORCH_TOKEN'] || env['GITHUB_TOKEN'] || env['GITEA_TOKEN']
  return {
    ...place,
    stdin,
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
    openForge: (repository) => new LocalForge(repository),
    openCluster: async (target) => {
      if (target.live !== undefined) {
        const { openRecordedCluster } = await import('./adapters/kubernetes/recorded-cluster.ts')
        const observedAt = `${clock.now().toISOString().slice(0, 19)}Z`
        const reader = openRecordedCluster({
          path: resolve(cwd, target.live),
          observedAt,
          ...(target.cluster === undefined ? {} : { name: target.cluster }),
        })
        return { reader, close: () => undefined }
      }
      const { connectCluster } = await import('./adapters/kubernetes/connect-cluster.ts')
      return connectCluster(connectOptions(target, place))
    },
    openWriter: async (target) => {
      const { connectClusterWriter } = await import('./adapters/kubernetes/connect-cluster.ts')
      return connectClusterWriter(connectOptions(target, place))
    },
    loadKey: async () => ({ ...(await loadInstallationKey({ value: env['BACKPORCH_KEY'], path: keyPath })), path: keyPath }),
    workTree: (path) => workTreeState(resolve(cwd, path), signal, env),
    userName: () => userName(cwd, env),
    at: (other) => worldAt(other, stdin, signal),
  }
}

function connectOptions(target: ClusterTarget, { cwd, env, clock }: Place): ConnectOptions {
  return {
    environment: env,
    clock,
    version: version(),
    execAllow: target.execAllow,
    insecureSkipTlsVerify: target.insecureSkipTlsVerify,
    ...(target.kubeconfig === undefined ? {} : { kubeconfig: resolve(cwd, target.kubeconfig) }),
    ...(target.context === undefined ? {} : { context: target.context }),
    ...(target.cluster === undefined ? {} : { name: target.cluster }),
    ...(target.timeout === undefined ? {} : { timeout: target.timeout }),
  }
}

/** Name and email as git has them for this folder; the login name where git has none. */
async function userName(cwd: string, env: World['env']): Promise<string> {
  const ask = async (name: string): Promise<string> => {
    try {
      return (await promisify(execFile)('git', ['config', '--get', name], { cwd, env })).stdout.trim()
    } catch {
      return ''
    }
  }
  const [name, email] = [await ask('user.name'), await ask('user.email')]
  if (name === '' && email === '') return userInfo().username
  return email === '' ? name : name === '' ? email : `${name} <${email}>`
}

/** Each adapter is loaded on use, for quick help and completion. */
import { appendFileSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import type { ConnectOptions } from '@backporch/cluster/connect-cluster'
import {
  ALL_FORGES,
  type CredentialOptions,
  findForgeToken,
  findGitToken,
  findRemoteHost,
} from '@backporch/forge/forges'
import type { PushPaces } from '@backporch/forge/push-pace'
import { BOT } from '@backporch/git-store/commit'
import { runGit } from '@backporch/git-store/git-program'
import type { RepositoryOptions } from '@backporch/git-store/repository'
import { escapeUnseenLines } from '@backporch/kyaml/text'
import { readConfigFile } from './adapters/system/config-file.ts'
import { runExternalDiff } from './adapters/system/external-diff.ts'
import { checkNewFolder, writeNewFolder } from './adapters/system/new-folder.ts'
import { createPackageMarks } from './adapters/system/package-marks.ts'
import { readPolicyFiles } from './adapters/system/policy-files.ts'
import { systemClock } from './adapters/system/system-clock.ts'
import { createVerdictFiles } from './adapters/system/verdict-files.ts'
import { traceSettings } from './adapters/traces/trace-settings.ts'
import type { CliContext, ClusterTarget, ProcessContext } from './cli/context/cli-context.ts'

/** Milliseconds. */
const LONGEST_WAIT = 60_000

declare const BACKPORCH_VERSION: string | undefined

/** Inserted by the bundler; read from package.json in a checkout. */
export function readVersion(): string {
  if (typeof BACKPORCH_VERSION === 'string') return BACKPORCH_VERSION
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

export function wire(process: NodeJS.Process, signal: AbortSignal): CliContext {
  const { env, stdin, stdout, stderr } = process
  let paces: Promise<PushPaces> | undefined
  const pushPaces: SharedPaces = () => {
    paces ??= import('@backporch/forge/push-pace').then(
      ({ PushPaces }) => new PushPaces(systemClock),
    )
    return paces
  }
  return buildCliContext(
    { cwd: process.cwd(), env, clock: systemClock, stdout, stderr },
    stdin,
    signal,
    pushPaces,
  )
}

/** Pushes of all opened repositories are counted together. */
type SharedPaces = () => Promise<PushPaces>

function buildCliContext(
  location: ProcessContext,
  stdin: CliContext['stdin'],
  signal: AbortSignal,
  pushPaces: SharedPaces,
): CliContext {
  const { env, cwd, clock } = location
  const home = env['HOME'] ?? homedir()
  const keyPath = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'backporch', 'key')
  const cacheDir =
    env['BACKPORCH_CACHE'] ||
    join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'backporch', 'repositories')
  return {
    ...location,
    stdin,
    version: readVersion(),
    bot: { email: BOT.email, forges: ALL_FORGES.flatMap(({ committers }) => committers) },
    signal,
    onHangup: (listener) => {
      process.on('SIGHUP', listener)
      return () => void process.off('SIGHUP', listener)
    },
    openRepository: async (remote, { baseBranch, readOnly = false, trace, note } = {}) => {
      const host = findRemoteHost(remote)
      const token =
        host === undefined
          ? undefined
          : ((await findGitToken(remote, buildCredentialOptions(location))) ??
            findForgeToken(host, env))
      const { findCommitSigner } = await import('@backporch/git-store/commit')
      const signer = await findCommitSigner(env, cwd, BOT.email)
      const admitPush =
        host === undefined ? undefined : (await pushPaces()).findAdmitPush(remote, env)
      const { openCheckedOut, openRepository } = await import('@backporch/git-store/repository')
      const open = readOnly ? openCheckedOut : openRepository
      const tell = (text: string): void => {
        if (note === undefined) location.stderr.write(`note: ${escapeUnseenLines(text)}\n`)
        else note({ cause: 'cache-not-used', subject: '', text })
      }
      const options: RepositoryOptions = {
        remote,
        cacheDir,
        workingDirectory: cwd,
        environment: env,
        ...(token === undefined ? {} : { token }),
        ...(signer === undefined ? {} : { signer }),
        ...(admitPush === undefined ? {} : { admitPush }),
        ...(baseBranch === undefined ? {} : { baseBranch }),
        ...(trace === undefined ? {} : { trace }),
      }
      return open(options, tell)
    },
    openForge: async (repository, { remote, kind, dryRun = false, note, trace }) => {
      const { openForge } = await import('@backporch/forge/open-forge')
      const { findCredential } = await import('@backporch/git-store/git-credential')
      return openForge(
        repository,
        {
          ...buildCredentialOptions(location),
          remote,
          kind,
          dryRun,
          findToken: async (url) => (await findCredential(url, env, signal))?.password,
          note,
          trace,
        },
        signal,
      )
    },
    openLog: async ({ format, ...sink }) => {
      if (format === 'text')
        return new (await import('./adapters/log/text-log.ts')).TextLog({ ...sink, clock })
      return new (await import('./adapters/log/json-log.ts')).JsonLog({ ...sink, clock })
    },
    forgeSetup: async (remote, kind) =>
      (await import('@backporch/forge/open-forge')).findForgeSetup(remote, kind, env, signal),
    openWebhooks: async ({ address, secrets, remote, remotes, onUpdate, onRefused }) => {
      const {
        DeliveryWindow,
        filterRemotes,
        getRepositoryName,
        startWebhookServer,
        WebhookIntake,
      } = await import('@backporch/forge/webhook')
      const repository = remote === undefined ? undefined : getRepositoryName(remote)
      const intake = new WebhookIntake({ secrets, repository, window: new DeliveryWindow() })
      const update: Parameters<typeof startWebhookServer>[0]['onUpdate'] = (
        requestedAction,
        named,
      ) =>
        onUpdate(requestedAction, named === undefined ? undefined : filterRemotes(named, remotes()))
      return startWebhookServer({ ...address, intake, clock, onUpdate: update, onRefused })
    },
    openMonitoring: async ({ address, readiness, onRefused }) => {
      const { PrometheusMetrics } = await import('./adapters/metrics/prometheus-metrics.ts')
      const { startMonitoringServer } = await import('./adapters/metrics/monitoring-server.ts')
      const metrics = new PrometheusMetrics({ version: readVersion(), clock })
      return {
        metrics,
        ...(await startMonitoringServer({ ...address, metrics, readiness, onRefused })),
      }
    },
    openTraces: async (onNote) => {
      const settings = traceSettings(env, readVersion())
      if (settings === undefined) return undefined
      if ('problem' in settings) {
        onNote({
          cause: 'traces-not-sent',
          subject: '',
          text: `no traces are sent: ${settings.problem}`,
        })
        return undefined
      }
      const { OtlpTraces } = await import('./adapters/traces/otlp-traces.ts')
      return new OtlpTraces(settings, onNote)
    },
    readConfig: (path) => readConfigFile(path, cwd),
    readPolicyFiles: (path) => readPolicyFiles(resolve(cwd, path)),
    openAuditLog: async (path) => {
      const { openAuditLog } = await import('@backporch/cluster/audit')
      return openAuditLog(resolve(cwd, path))
    },
    openAuditHook: async ({ address, token, named, onRefused }) => {
      const { AuditIntake, startAuditServer } = await import('@backporch/cluster/audit')
      const source = new AuditIntake({ token, named })
      return { source, ...(await startAuditServer({ ...address, intake: source, onRefused })) }
    },
    openCluster: async (target) => {
      if (target.live !== undefined) {
        const { openRecordedCluster } = await import('@backporch/cluster/recording')
        const observedAt = `${clock.now().toISOString().slice(0, 19)}Z`
        const reader = openRecordedCluster({
          path: resolve(cwd, target.live),
          observedAt,
          ...(target.cluster === undefined ? {} : { name: target.cluster }),
          ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
        })
        return { reader, close: () => undefined }
      }
      const { connectCluster } = await import('@backporch/cluster/connect-cluster')
      return connectCluster(connectOptions(target, location), target.namespace)
    },
    offlineCluster: async (name) => {
      const { emptyCluster } = await import('@backporch/cluster/recording')
      return emptyCluster(name, `${clock.now().toISOString().slice(0, 19)}Z`)
    },
    openWriter: async (target) => {
      const { connectClusterWriter } = await import('@backporch/cluster/connect-cluster')
      return connectClusterWriter(connectOptions(target, location), target.namespace)
    },
    openDriftEvents: async (target) => {
      const { connectDriftEvents } = await import('@backporch/cluster/connect-cluster')
      return connectDriftEvents(connectOptions(target, location))
    },
    openWatch: async (target, observer) => {
      if (target.live !== undefined) return undefined
      const { connectCluster } = await import('@backporch/cluster/connect-cluster')
      const connected = connectCluster(connectOptions(target, location))
      const watch = connected.watch(observer)
      return {
        cluster: watch.cluster,
        follow: (kinds) => watch.follow(kinds),
        state: () => watch.state(),
        close: async () => {
          await watch.close()
          connected.close()
        },
      }
    },
    verdictFiles: (remote) => createVerdictFiles(join(cacheDir, '..', 'verdicts'), remote),
    packageMarks: (remote) =>
      createPackageMarks(join(cacheDir, '..', 'packages'), remote, readVersion()),
    openRenderer: async ({ engine, render = [], ...allowed }) => {
      const { WorkerRenderer } = await import('./adapters/functions/worker-renderer.ts')
      const { PackageBuilds, addPackageBuilds } = await import(
        './adapters/functions/package-builds.ts'
      )
      const { createSopsDecryptor } = await import('./adapters/functions/sops-values.ts')
      const sops = createSopsDecryptor({ allowed: render, environment: env, workingDirectory: cwd })
      const renderer = new WorkerRenderer({ allowed, engine, environment: env })
      const { KeptBuilds } = await import('./adapters/functions/kept-builds.ts')
      const kept = new KeptBuilds(join(cacheDir, '..', 'builds'), readVersion())
      const builds = new PackageBuilds({ allowed: render, environment: env, kept })
      return addPackageBuilds(renderer, builds, sops)
    },
    loadKey: async () => {
      const { loadInstallationKey } = await import('./adapters/system/installation-key.ts')
      return {
        ...(await loadInstallationKey({ value: env['BACKPORCH_KEY'], path: keyPath })),
        path: keyPath,
      }
    },
    localNames: async (kind, path) => {
      const { listLocalNames } = await import('./cli/context/local-names.ts')
      return listLocalNames(kind, resolve(cwd, path), env)
    },
    externalDiff: (program, files) => {
      const inherit = location.stdout === process.stdout
      const printed = runExternalDiff({
        program,
        files,
        workingDirectory: cwd,
        environment: env,
        inherit,
      })
      if (!inherit) location.stdout.write(printed)
    },
    checkNewFolder: (path) => checkNewFolder(resolve(cwd, path)),
    writeNewFolder: (path, files) => writeNewFolder(resolve(cwd, path), files),
    appendText: (path, text) => appendFileSync(resolve(cwd, path), text),
    workTree: async (path) => {
      const { workTreeState } = await import('@backporch/git-store/work-tree')
      return workTreeState(resolve(cwd, path), signal, env)
    },
    cloneState: async (path) => {
      const { cloneState } = await import('@backporch/git-store/work-tree')
      return cloneState(resolve(cwd, path), signal, env)
    },
    userName: () => readUserName(cwd, env),
    probes: async () =>
      (await import('./wire-probes.ts')).createProbes(location, {
        keyPath,
        credentialOptions: buildCredentialOptions,
        connectOptions,
      }),
    at: (other) => buildCliContext(other, stdin, signal, pushPaces),
  }
}

function buildCredentialOptions({ env, cwd, clock }: ProcessContext): CredentialOptions {
  return {
    environment: env,
    workingDirectory: cwd,
    clock,
    version: readVersion(),
    longestWait: LONGEST_WAIT,
  }
}

function connectOptions(
  target: ClusterTarget,
  { cwd, env, clock }: ProcessContext,
): ConnectOptions {
  return {
    environment: env,
    clock,
    version: readVersion(),
    execAllow: target.execAllow,
    insecureSkipTlsVerify: target.insecureSkipTlsVerify,
    ...(target.kubeconfig === undefined ? {} : { kubeconfig: resolve(cwd, target.kubeconfig) }),
    ...(target.context === undefined ? {} : { context: target.context }),
    ...(target.cluster === undefined ? {} : { name: target.cluster }),
    ...(target.timeout === undefined ? {} : { timeout: target.timeout }),
    ...(target.trace === undefined ? {} : { trace: target.trace }),
  }
}

/** The login name if git has none for this folder. */
async function readUserName(cwd: string, env: CliContext['env']): Promise<string> {
  const ask = async (name: string): Promise<string> => {
    const answer = await runGit(
      ['-C', cwd, 'config', '--get', name],
      env,
      new AbortController().signal,
    )
    return answer === 'not-installed' || answer.status !== 0
      ? ''
      : answer.stdout.toString('utf8').trim()
  }
  const [name, email] = [await ask('user.name'), await ask('user.email')]
  if (name === '' && email === '') return userInfo().username
  return email === '' ? name : name === '' ? email : `${name} <${email}>`
}

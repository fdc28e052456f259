/** `check` proves what Backporch needs. A line that cannot be proven says so; a failed check does not stop the others. */
import type { ClusterAccessAnswer, ClusterReader, ObjectList } from '@backporch/cluster/cluster'
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { failuresOf } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { oneLine } from '@backporch/kyaml/text'
import type { PolicySet } from '../../policy/parse-policy.ts'
import { addressesOf } from '../../policy/repository-addresses.ts'
import type { Probes } from '../../ports/probes.ts'
import { judgeAccess, judgeClock, notAsked } from '../../reconcile/onboard/check-cluster.ts'
import { checkHeads } from '../../reconcile/onboard/check-heads.ts'
import {
  judgePackages,
  type ReadPackages,
  readPackages,
} from '../../reconcile/onboard/check-packages.ts'
import { judgePipelines, readSweepingCommands } from '../../reconcile/onboard/check-pipelines.ts'
import { judgePorch, PORCH_REPOSITORY } from '../../reconcile/onboard/check-porch.ts'
import {
  type BaseTree,
  checkLedger,
  judgeKept,
  judgePolicy,
  readBase,
  readPolicy,
  readReports,
  readSynced,
} from '../../reconcile/onboard/check-repository.ts'
import { judgeSources } from '../../reconcile/onboard/check-sources.ts'
import {
  CHECKED_KINDS,
  judgeSyncers,
  type SyncerObjects,
} from '../../reconcile/onboard/check-syncers.ts'
import { headNotes } from '../../reconcile/repository/base-branch.ts'
import { isHosted } from '../../reconcile/repository/is-hosted.ts'
import { readRepository } from '../../reconcile/repository/repository-view.ts'
import { discoverSources } from '../../reconcile/repository/sources/discover-sources.ts'
import { knownAddresses } from '../../reconcile/repository/sources/other-addresses.ts'
import { readSyncers } from '../../reconcile/repository/sources/read-syncers.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { SyncedRepository } from '../../syncers/syncer.ts'
import type { CliContext } from '../context/cli-context.ts'
import type { CHECK_FLAGS } from '../flags/command-flags.ts'
import {
  allowedFunctions,
  type ClusterOptions,
  clusterTarget,
  type ForgeOptions,
  type FunctionOptions,
  type OutputOptions,
  Progress,
  type RepositoryOptions,
  type ValuesOf,
} from '../flags/options.ts'
import { Printer } from '../print/printer.ts'
import { printList } from '../report/print-document.ts'
import { readLedgerOf } from '../session/ledger-session.ts'
import { operatorPolicy } from '../session/turn-session.ts'

/** `pre`: before the installation, checks that only writing needs are skipped or only warn. */
type CheckOptions = ValuesOf<typeof CHECK_FLAGS> &
  RepositoryOptions &
  ForgeOptions &
  FunctionOptions &
  ClusterOptions &
  OutputOptions

/** Names that no package has; nothing is created under them. */
const REHEARSED = [
  ['refs/heads/drafts/backporch-check/drift-check', 'drafts/**'],
  ['refs/heads/proposed/backporch-check/drift-check', 'proposed/**'],
  ['refs/heads/drift-ledger', 'drift-ledger'],
  ['refs/tags/backporch-check/v0', 'tags'],
] as const

const NAME_BASE =
  'name the base branch with --branch, or correct the default branch of the repository'

/** @returns 0 where nothing failed, 1 where something did; a warning is no failure */
export async function check(options: CheckOptions, cli: CliContext): Promise<number> {
  const progress = new Progress(cli, options)
  const probes = await cli.probes()
  const findings: Finding[] = []
  const ask = async (name: string, work: () => Promise<readonly Finding[]>): Promise<void> => {
    progress.step(`checking ${name}`)
    findings.push(...(await guarded(name, work, cli)))
  }
  const base = await checkGit(options, probes, cli, ask)
  const packages = base === undefined ? undefined : packagesOf(base, options, cli)
  // What is wrong with them is told below.
  const namespaces = (await packages?.catch(() => undefined))?.namespaces
  const synced = await checkCluster(
    { options, probes, cli, namespaces: namespaces ?? new Set() },
    ask,
  )
  // Syncers of the cluster name units that have no Kptfile.
  if (packages !== undefined)
    await ask('packages', async () => judgePackages(await packages, synced))
  await ask('key', async () => [await checkKey(probes)])
  progress.end()
  print(findings, new Printer(cli, options))
  return findings.some(({ state }) => state === 'failed') ? 1 : 0
}

async function packagesOf(
  { repository, branch, operator }: CheckedBase,
  options: CheckOptions,
  cli: CliContext,
): Promise<ReadPackages> {
  const renderer = await cli.openRenderer(allowedFunctions(options, cli.env))
  return readPackages(repository, { branch, renderer, operator }, cli.signal)
}

function passed(check: string, message: string): Finding {
  return { check, state: 'passed', message }
}

function warning(check: string, message: string, fix: string): Finding {
  return { check, state: 'warning', message, fix }
}

type Check = (name: string, work: () => Promise<readonly Finding[]>) => Promise<void>

/** An error of a probe is its finding. */
async function guarded(
  name: string,
  work: () => Promise<readonly Finding[]>,
  cli: CliContext,
): Promise<readonly Finding[]> {
  try {
    return await work()
  } catch (thrown) {
    cli.signal.throwIfAborted()
    return failuresOf(thrown).map(({ code, what, why, remedy, where }) => ({
      check: name,
      state: 'failed',
      code,
      message: `${what}${where === undefined ? '' : ` (${where})`}: ${why}`,
      fix: remedy,
    }))
  }
}

interface CheckedBase {
  readonly repository: PackageRepository
  readonly branch: string
  readonly operator: PolicySet | undefined
}

/** Undefined where packages cannot be judged: policies say how they are rendered, and where those cannot be read, that is the finding. */
async function checkGit(
  options: CheckOptions,
  probes: Probes,
  cli: CliContext,
  ask: Check,
): Promise<CheckedBase | undefined> {
  const { signal } = cli
  let usable = true
  await ask('signing-key', async () => {
    usable = false
    const findings = await checkSigningKey(probes)
    usable = true
    return findings
  })
  // An unusable key is already a finding, and nothing opens with it.
  if (!usable) return undefined
  const repository = await cli.openRepository(options.repo, {
    readOnly: true,
    trace: new Printer(cli, options).trace,
  })
  let base: BaseTree | undefined
  await ask('git-read', async () => {
    base = await readBase(repository, options.branch, signal)
    const others = headNotes(base.refs, options.branch).map(({ subject, text }) =>
      warning('git-read', `git: ${subject}: ${text}`, NAME_BASE),
    )
    return [
      passed('git-read', `git: ${repository.remote} can be read, base branch ${base.branch}`),
      ...others,
    ]
  })
  if (base === undefined) return undefined
  const known = base
  if (options.pre !== true) {
    await ask('git-push', async () => {
      const refs = REHEARSED.map(([ref]) => ref)
      const answers = await probes.push(options.repo, known.branch, refs, signal)
      return answers.map(({ ref, answer, why }) =>
        pushFinding(REHEARSED.find(([name]) => name === ref)?.[1] ?? ref, answer, why),
      )
    })
  }
  await ask('forge', async () => {
    const branches = REHEARSED.slice(0, 3).map(([ref]) => ref)
    const found = await probes.forge(options.repo, options.forge, branches, signal)
    // Before the installation the account needs no access.
    return options.pre === true
      ? found.map((one) => (one.code === 'BP5003' ? { ...one, state: 'warning' as const } : one))
      : found
  })
  let checked: CheckedBase | undefined
  let isEnrolled = false
  await ask('policy', async () => {
    const reports = options.pre === true ? [] : await readReports(repository, known, signal)
    const operator = operatorPolicy(options, cli)
    const set = await readPolicy(repository, known, operator, signal)
    checked = { repository, branch: known.branch, operator }
    isEnrolled = set.policies.length > 0
    return judgePolicy(set, reports, cli.clock.now().toISOString().slice(0, 10))
  })
  let account: string | undefined
  if (options.pre !== true && isEnrolled) {
    await ask('open-heads', async () => {
      const { trace } = new Printer(cli, options)
      const wanted = {
        remote: options.repo,
        kind: options.forge,
        dryRun: true,
        note: () => undefined,
        trace,
      }
      const forge = await cli.openForge(repository, wanted)
      if (isHosted(forge)) account = await forge.commits?.account(signal)
      return checkHeads(forge, { baseBranch: known.branch, refs: known.refs.refs }, signal)
    })
  }
  let synced: SyncedRepository | undefined
  await ask('records', async () => {
    synced = await readSynced(repository, known, () => false, signal)
    return judgeKept(known, synced)
  })
  const kept = synced
  if (kept !== undefined)
    await ask('pipelines', async () =>
      judgePipelines(kept, await readSweepingCommands(repository, known.tree, signal)),
    )
  if (options.pre !== true)
    await ask('ledger', () =>
      checkLedger(
        repository,
        known,
        { ...cli.bot, ...(account === undefined ? {} : { account }) },
        signal,
      ),
    )
  await ask('git-identity', async () => {
    if (await probes.hasGitIdentity()) return [passed('git-identity', 'git: knows who you are')]
    const message = `git: has no user.name and user.email, so decisions made here are signed as ${oneLine(await cli.userName())}`
    return [warning('git-identity', message, 'git config --global user.name "…" and user.email')]
  })
  return checked
}

function pushFinding(
  name: string,
  answer: 'let-through' | 'refused' | 'unclear',
  why: string,
): Finding {
  if (answer === 'let-through')
    return passed('git-push', `git: no rule of the server refuses a push to ${name}`)
  if (answer === 'unclear')
    return {
      check: 'git-push',
      state: 'skipped',
      message: `git: whether a push to ${name} is taken is not known: ${why}`,
    }
  const fix = `allow the account to push ${name}: branch protection, ruleset or hook of the server`
  return {
    check: 'git-push',
    state: 'failed',
    code: 'BP4002',
    message: `git: a push to ${name} is refused: ${why}`,
    fix,
  }
}

interface ClusterQuestion {
  readonly options: CheckOptions
  readonly probes: Probes
  readonly cli: CliContext
  /** Of the packages. */
  readonly namespaces: ReadPackages['namespaces']
}

/** How many units syncers of the cluster name; none where this is not known. */
async function checkCluster(
  { options, probes, cli, namespaces }: ClusterQuestion,
  ask: Check,
): Promise<number> {
  const { signal } = cli
  const target = { ...clusterTarget(options), trace: new Printer(cli, options).trace }
  let reader: ClusterReader | undefined
  let namespace = 'default'
  let units = 0
  let close = (): void => undefined
  try {
    await ask('cluster', async () => {
      const opened = await cli.openCluster(target)
      close = () => opened.close()
      const identity = await opened.reader.identify(signal)
      reader = opened.reader
      namespace = identity.namespace
      const what = `cluster ${oneLine(opened.reader.name)}`
      if (identity.recorded)
        return [passed('cluster', `${what}: a recording of ${identity.observedAt}`)]
      const answers = passed('cluster', `${what}: answers, ${oneLine(identity.version)}`)
      if (identity.uid !== '') return [answers]
      const message = `${what}: its identity cannot be read, so another cluster behind the same name is not noticed`
      return [answers, warning('cluster', message, 'let the account get the namespace kube-system')]
    })
    const found = reader
    if (found === undefined) return units
    if (options.live === undefined) {
      await ask('cluster-rbac', async () => {
        const answers = new Map<string, ClusterAccessAnswer>()
        const wanted = await namespacesOf({ options, cli, declared: namespaces, own: namespace })
        for (const one of wanted.slice(0, MOST_NAMESPACES))
          answers.set(one, await probes.access(target, one, signal))
        const [first] = answers.values()
        const settles = (await policiesOf(options, cli)).some(
          ({ document }) => document.spec.settle === 'backporch',
        )
        return [
          ...judgeAccess(oneLine(found.name), answers, settles),
          ...notAsked(oneLine(found.name), wanted.slice(MOST_NAMESPACES)),
          ...judgeClock(
            `cluster ${oneLine(found.name)}`,
            first?.serverTime,
            cli.clock.now().getTime(),
          ),
        ]
      })
    }
    await ask('syncers', async () => {
      const operator = operatorPolicy(options, cli)
      const view = await readRepository(
        await cli.openRepository(options.repo, { readOnly: true }),
        options.branch,
        signal,
        { operator },
      )
      const sources = await discoverSources(
        view,
        found,
        await cli.openRenderer(allowedFunctions(options, cli.env)),
        signal,
      )
      units = sources.titles.size
      return judgeSources(await readSyncers(found, signal), sources)
    })
    await ask('syncer-path', async () => {
      const repository = await cli.openRepository(options.repo, { readOnly: true })
      const objects = await syncerObjects(found, signal)
      const isHere = addressesOf(
        await knownAddresses(repository, signal),
        await policiesOf(options, cli),
      )
      return judgeSyncers(
        objects,
        await readSynced(
          repository,
          await readBase(repository, options.branch, signal),
          isHere,
          signal,
        ),
      )
    })
    await ask('porch', async () => {
      const objects = await listInstalled(found, PORCH_REPOSITORY, signal)
      if (objects === undefined || objects.objects.length === 0) return []
      const repository = await cli.openRepository(options.repo, { readOnly: true })
      const { branch: baseBranch } = await readBase(repository, options.branch, signal)
      const policies = await policiesOf(options, cli)
      const approvesInPorch = policies.some(({ document }) => document.spec.approval === 'porch')
      return judgePorch(objects.objects, {
        isHere: addressesOf(await knownAddresses(repository, signal), policies),
        baseBranch,
        approvesInPorch,
      })
    })
  } finally {
    close()
  }
  return units
}

const MOST_NAMESPACES = 10

interface NamespacesQuestion {
  readonly options: CheckOptions
  readonly cli: CliContext
  /** By the packages; empty for that of the context. */
  readonly declared: ReadPackages['namespaces']
  /** Of the context. */
  readonly own: string
}

/** Those of the packages, and those in which the ledger knows objects; that of the context where there are no others. */
async function namespacesOf({
  options,
  cli,
  declared,
  own,
}: NamespacesQuestion): Promise<readonly string[]> {
  const names = [...declared].map((name) => name || own)
  const all = [...new Set([...names, ...(await recordedNamespaces(options, cli))])]
  return all.length === 0 ? [own] : all
}

async function recordedNamespaces(
  options: CheckOptions,
  cli: CliContext,
): Promise<readonly string[]> {
  try {
    const { ledger } = await readLedgerOf(cli, { ...options, quiet: true })
    return ledger.reports
      .flatMap(({ spec }) => spec.changes.map(({ ref }) => ref.namespace))
      .filter((name) => name !== '')
  } catch (thrown) {
    cli.signal.throwIfAborted()
    failuresOf(thrown)
    // The probe of the ledger reports it.
    return []
  }
}

/** None where they cannot be read: that is a finding of its own. */
async function policiesOf(options: CheckOptions, cli: CliContext): Promise<PolicySet['policies']> {
  try {
    const repository = await cli.openRepository(options.repo, { readOnly: true })
    const base = await readBase(repository, options.branch, cli.signal)
    return (await readPolicy(repository, base, operatorPolicy(options, cli), cli.signal)).policies
  } catch (thrown) {
    cli.signal.throwIfAborted()
    failuresOf(thrown)
    return []
  }
}

async function syncerObjects(reader: ClusterReader, signal: AbortSignal): Promise<SyncerObjects> {
  let complete = true
  const byKind = new Map<string, readonly JsonObject[]>()
  for (const kind of CHECKED_KINDS) {
    const found = await listInstalled(reader, kind, signal)
    complete &&= found?.complete ?? true
    byKind.set(kind.kind, found?.objects ?? [])
  }
  return { byKind, complete }
}

/** Undefined where the kind is not installed, which is an answer. */
async function listInstalled(
  reader: ClusterReader,
  { group, kind }: { readonly group: string; readonly kind: string },
  signal: AbortSignal,
): Promise<ObjectList | undefined> {
  try {
    return await reader.list(group, kind, signal)
  } catch (thrown) {
    if (failuresOf(thrown)[0].code !== 'BP3009') throw thrown
    return undefined
  }
}

/** Nothing where none was given: to sign is a choice. */
async function checkSigningKey(probes: Probes): Promise<readonly Finding[]> {
  const found = await probes.signingKey()
  if (found === undefined) return []
  const message = `signing key: ${found.fingerprint}, from ${found.from}`
  if (!found.readByAll) return [passed('signing-key', message)]
  const fix = `chmod 600 ${found.from}, or defaultMode: 0400 of the Secret's volume`
  return [warning('signing-key', `${message}, which every user of this machine may read`, fix)]
}

async function checkKey(probes: Probes): Promise<Finding> {
  const { from, path } = await probes.keySource()
  if (from === 'environment') return passed('key', 'key: from BACKPORCH_KEY')
  if (from === 'file')
    return passed(
      'key',
      `key: from ${path}; scans on other machines need the same key (BACKPORCH_KEY) to recognise what was decided`,
    )
  const message = `key: there is none yet; the first command that needs one makes ${path}`
  return warning(
    'key',
    message,
    'set BACKPORCH_KEY where scans run on new machines (openssl rand -hex 32)',
  )
}

const GLYPHS = {
  passed: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  failed: ['error', 'red'],
  skipped: ['unknown', 'dim'],
} as const

function print(findings: readonly Finding[], printer: Printer): void {
  const items = findings.map(({ check: name, state, code, message, fix }) => ({
    check: name,
    state,
    ...(code === undefined ? {} : { code }),
    message,
    ...(fix === undefined ? {} : { fix }),
  }))
  if (printList({ apiVersion: API_VERSION, kind: 'CheckList', items }, printer)) return
  const { terminal } = printer
  for (const { state, code, message, fix } of findings) {
    const [glyph, style] = GLYPHS[state]
    const head = `${terminal.style(terminal.glyph(glyph), style)} ${code === undefined || state === 'passed' ? '' : `${code} `}`
    // A server may send no colours and no line breaks.
    printer.write(`${head}${oneLine(message, 1_000)}\n`)
    if (fix !== undefined) printer.write(`    fix: ${oneLine(fix, 1_000)}\n`)
  }
  const count = (state: Finding['state']): number =>
    findings.filter((one) => one.state === state).length
  if (!printer.quiet) {
    printer.write(
      `${count('passed')} passed, ${count('warning')} ${count('warning') === 1 ? 'warning' : 'warnings'}, ${count('failed')} failed, ${count('skipped')} unknown\n`,
    )
  }
}

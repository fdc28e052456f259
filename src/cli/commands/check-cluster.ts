import type { ClusterAccessAnswer, ClusterReader, ObjectList } from '@backporch/cluster/cluster'
import { listFailures } from '@backporch/kyaml/failure'
import type { JsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { PolicySet } from '../../policy/parse-policy.ts'
import { createAddressMatcher } from '../../policy/repository-addresses.ts'
import type { Probes } from '../../ports/probes.ts'
import {
  createNotAskedFindings,
  judgeAccess,
  judgeClock,
} from '../../reconcile/onboard/check-cluster.ts'
import type { ReadPackages } from '../../reconcile/onboard/check-packages.ts'
import { judgePorch, PORCH_REPOSITORY } from '../../reconcile/onboard/check-porch.ts'
import { readBase, readPolicy, readSynced } from '../../reconcile/onboard/check-repository.ts'
import { judgeSources } from '../../reconcile/onboard/check-sources.ts'
import {
  CHECKED_KINDS,
  judgeSyncers,
  type SyncerObjects,
} from '../../reconcile/onboard/check-syncers.ts'
import { readRepository } from '../../reconcile/repository/repository-view.ts'
import { discoverSources } from '../../reconcile/repository/sources/discover-sources.ts'
import { listKnownAddresses } from '../../reconcile/repository/sources/other-addresses.ts'
import { readSyncers } from '../../reconcile/repository/sources/read-syncers.ts'
import type { CliContext, LedgerContext, TurnContext } from '../context/cli-context.ts'
import type { CHECK_FLAGS } from '../flags/command-flags.ts'
import {
  type ClusterOptions,
  createClusterTarget,
  type ForgeOptions,
  type FunctionOptions,
  getAllowedFunctions,
  type OutputOptions,
  type RepositoryOptions,
  type ValuesOf,
} from '../flags/options.ts'
import { Printer } from '../print/printer.ts'
import { readLedgerOf } from '../session/ledger-session.ts'
import { readOperatorPolicy } from '../session/turn-session.ts'

interface ClusterQuestion {
  readonly options: CheckOptions
  readonly probes: Probes
  readonly cli: TurnContext
  readonly namespaces: ReadPackages['namespaces']
}

/** @returns 0 if unknown */
export async function checkCluster(
  { options, probes, cli, namespaces }: ClusterQuestion,
  ask: Check,
): Promise<number> {
  const { signal } = cli
  const target = { ...createClusterTarget(options), trace: new Printer(cli, options).trace }
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
      const what = `cluster ${convertToOneLine(opened.reader.name)}`
      if (identity.recorded)
        return [createPassedCheck('cluster', `${what}: a recording of ${identity.observedAt}`)]
      const answers = createPassedCheck(
        'cluster',
        `${what}: answers, ${convertToOneLine(identity.version)}`,
      )
      if (identity.uid !== undefined) return [answers]
      const message = `${what}: its identity cannot be read, so another cluster behind the same name is not noticed`
      return [
        answers,
        createWarningCheck('cluster', message, 'let the account get the namespace kube-system'),
      ]
    })
    const found = reader
    if (found === undefined) return units
    if (options.live === undefined) {
      await ask('cluster-rbac', async () => {
        const answers = new Map<string, ClusterAccessAnswer>()
        const wanted = await listNamespaces({ options, cli, declared: namespaces, own: namespace })
        for (const one of wanted.slice(0, MOST_NAMESPACES))
          answers.set(one, await probes.access(target, one, signal))
        const [first] = answers.values()
        const settles = (await readPolicies(options, cli)).some(
          ({ document }) => document.spec.settle === 'backporch',
        )
        return [
          ...judgeAccess(convertToOneLine(found.name), answers, settles),
          ...createNotAskedFindings(convertToOneLine(found.name), wanted.slice(MOST_NAMESPACES)),
          ...judgeClock(
            `cluster ${convertToOneLine(found.name)}`,
            first?.serverTime,
            cli.clock.now().getTime(),
          ),
        ]
      })
    }
    await ask('syncers', async () => {
      const operator = readOperatorPolicy(options, cli)
      const view = await readRepository(
        await cli.openRepository(options.repo, { readOnly: true }),
        options.branch,
        signal,
        { operator },
      )
      const sources = await discoverSources(
        view,
        found,
        await cli.openRenderer(getAllowedFunctions(options, cli.env)),
        signal,
      )
      units = sources.titles.size
      return judgeSources(await readSyncers(found, signal), sources)
    })
    await ask('syncer-path', async () => {
      const repository = await cli.openRepository(options.repo, { readOnly: true })
      const objects = await readSyncerObjects(found, signal)
      const isHere = createAddressMatcher(
        await listKnownAddresses(repository, signal),
        await readPolicies(options, cli),
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
      const policies = await readPolicies(options, cli)
      const approvesInPorch = policies.some(({ document }) => document.spec.approval === 'porch')
      return judgePorch(objects.objects, {
        isHere: createAddressMatcher(await listKnownAddresses(repository, signal), policies),
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
  readonly cli: LedgerContext
  /** Empty for the context's namespace. */
  readonly declared: ReadPackages['namespaces']
  readonly own: string
}

async function listNamespaces({
  options,
  cli,
  declared,
  own,
}: NamespacesQuestion): Promise<readonly string[]> {
  const names = [...declared].map((name) => name || own)
  const all = [...new Set([...names, ...(await readRecordedNamespaces(options, cli))])]
  return all.length === 0 ? [own] : all
}

async function readRecordedNamespaces(
  options: CheckOptions,
  cli: LedgerContext,
): Promise<readonly string[]> {
  try {
    const { ledger } = await readLedgerOf(cli, { ...options, quiet: true })
    return ledger.reports
      .flatMap(({ spec }) => spec.changes.map(({ ref }) => ref.namespace))
      .filter((name) => name !== '')
  } catch (thrown) {
    cli.signal.throwIfAborted()
    listFailures(thrown)
    // The ledger probe reports it.
    return []
  }
}

/** An unreadable policy is a separate finding. */
async function readPolicies(
  options: CheckOptions,
  cli: Pick<CliContext, 'openRepository' | 'readPolicyFiles' | 'signal'>,
): Promise<PolicySet['policies']> {
  try {
    const repository = await cli.openRepository(options.repo, { readOnly: true })
    const base = await readBase(repository, options.branch, cli.signal)
    return (await readPolicy(repository, base, readOperatorPolicy(options, cli), cli.signal))
      .policies
  } catch (thrown) {
    cli.signal.throwIfAborted()
    listFailures(thrown)
    return []
  }
}

async function readSyncerObjects(
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<SyncerObjects> {
  let complete = true
  const byKind = new Map<string, readonly JsonObject[]>()
  for (const kind of CHECKED_KINDS) {
    const found = await listInstalled(reader, kind, signal)
    complete &&= found?.complete ?? true
    byKind.set(kind.kind, found?.objects ?? [])
  }
  return { byKind, complete }
}

async function listInstalled(
  reader: ClusterReader,
  { group, kind }: { readonly group: string; readonly kind: string },
  signal: AbortSignal,
): Promise<ObjectList | undefined> {
  try {
    return await reader.list(group, kind, signal)
  } catch (thrown) {
    if (listFailures(thrown)[0].code !== 'BP3009') throw thrown
    return undefined
  }
}

/** `pre`: before the installation. Checks that only writing needs are skipped or only warn. */
export type CheckOptions = ValuesOf<typeof CHECK_FLAGS> &
  RepositoryOptions &
  ForgeOptions &
  FunctionOptions &
  ClusterOptions &
  OutputOptions

export type Check = (name: string, work: () => Promise<readonly Finding[]>) => Promise<void>

export function createPassedCheck(check: string, message: string): Finding {
  return { check, state: 'passed', message }
}

export function createWarningCheck(check: string, message: string, fix: string): Finding {
  return { check, state: 'warning', message, fix }
}

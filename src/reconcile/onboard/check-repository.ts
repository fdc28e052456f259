import type {
  CommitView,
  PackageRepository,
  RepositoryRefs,
  TreeFile,
} from '@backporch/git-store/package-repository'
import { LEDGER_BRANCH } from '@backporch/git-store/ref-name'
import { Failure } from '@backporch/kyaml/failure'
import type { ObjectId } from '@backporch/kyaml/files'
import { isJsonObject } from '@backporch/kyaml/json'
import type { Finding } from '@backporch/kyaml/note'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getAnnotations } from '@backporch/kyaml/resource'
import { listRules, listStaleRules, listUntriedRules } from '../../plan/turn/forge/listed-rules.ts'
import { addOperatorPolicies, type PolicySet } from '../../policy/parse-policy.ts'
import { clusterObservationSchema } from '../../record/documents/cluster-observation.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { DRIFT_FOLDER, isRecordPath } from '../../record/record-paths.ts'
import { INERT_LINE, parseDocument } from '../../record/write-document.ts'
import { readTexts } from '../../sources/commit/commit-files.ts'
import { isIgnoreFile } from '../../syncers/flux-artifact/source-ignore.ts'
import type { StoredFile, SyncedRepository } from '../../syncers/syncer.ts'
import { resolveBase } from '../repository/base-branch.ts'
import { type BotIdentity, hasBotIdentity } from '../repository/bot-identity.ts'
import { readPolicies } from '../repository/read-policies.ts'
import { readLedger } from '../repository/repository-view.ts'

export interface BaseTree {
  readonly refs: RepositoryRefs
  readonly branch: string
  readonly commit: ObjectId
  readonly tree: readonly TreeFile[]
}

const MOST_COMMITS = 200

/** @throws Failure BP1003 if the branch does not exist, BP40xx */
export async function readBase(
  repository: PackageRepository,
  branch: string | undefined,
  signal: AbortSignal,
): Promise<BaseTree> {
  const refs = await repository.listRefs(signal)
  const { baseBranch, base } = resolveBase(repository, refs, branch)
  return { refs, branch: baseBranch, commit: base, tree: await repository.list(base, '', signal) }
}

/**
 * @param operator in addition to the repository's policies
 * @throws Failure BP1005, also if an earlier policy decides
 */
export async function readPolicy(
  repository: PackageRepository,
  { commit, tree }: BaseTree,
  operator: PolicySet | undefined,
  signal: AbortSignal,
): Promise<PolicySet> {
  const own = await readPolicies(repository, { base: commit, tree }, signal)
  if (own.lastGood !== undefined) throw own.lastGood.failure
  return operator === undefined ? own : addOperatorPolicies(own, operator)
}

/**
 * @param reports none before the first scan
 * @param today `2026-11-21`, UTC
 */
export function judgePolicy(
  set: PolicySet,
  reports: readonly DriftReport[],
  today: string,
): readonly Finding[] {
  const { policies } = set
  const rules = policies.flatMap(({ ignore }) => ignore)
  const listed = listRules(set, reports, today)
  const state = 'warning' as const
  const open = rules.filter(({ expires }) => expires === undefined)
  const count =
    policies.length === 0
      ? 'no policy, so the shipped default applies (Warn)'
      : `${policies.length} valid`
  return [
    {
      check: 'policy',
      state: 'passed',
      message: `policy: ${count}, ${rules.length} ignore rule${rules.length === 1 ? '' : 's'}`,
    },
    ...listStaleRules(listed, today).map(({ rule, why }) => ({
      check: 'policy',
      state,
      message: `policy: ${why}`,
      fix:
        rule.state === 'Expired'
          ? 'remove it, or give it a later day'
          : 'remove it, or correct its target',
    })),
    ...listUntriedRules(set, listed, reports).map(({ where, about }) => ({
      check: 'policy',
      state,
      message: `policy: the ignore rule at ${where} (${about}) matches no observed object, or no scan ran since it was written`,
      fix: 'scan, and check its target if this persists',
    })),
    ...open.map(({ where }) => ({
      check: 'policy',
      state,
      message: `policy: the ignore rule at ${where} never ends`,
      fix: 'give it a day: expires: "2026-12-31"',
    })),
  ]
}

/** A file that is not YAML counts as unmarked. */
export async function readSynced(
  repository: PackageRepository,
  { tree }: BaseTree,
  isHere: (address: string) => boolean,
  signal: AbortSignal,
): Promise<SyncedRepository> {
  const ours = tree.filter(
    ({ path }) => path.startsWith(`${DRIFT_FOLDER}/`) && /\.(ya?ml|json)$/.test(path),
  )
  const ignore = tree.filter(
    ({ path, mode }) => isIgnoreFile(path) && (mode === '100644' || mode === '100755'),
  )
  const texts = await readTexts(repository, [...ours, ...ignore], signal)
  return {
    isHere,
    folder: DRIFT_FOLDER,
    retained: ours.map(({ path }) => createStoredFile(path, texts.get(path) ?? '')),
    ignoreFiles: new Map(ignore.map(({ path }) => [path, texts.get(path) ?? ''])),
    rootKustomization: tree.some(({ path }) => /^(kustomization\.ya?ml|Kustomization)$/.test(path)),
  }
}

function createStoredFile(path: string, text: string): StoredFile {
  let localConfig = false
  try {
    const values = parseGoYaml(text, path).documents.map(({ value }) => value)
    localConfig = values.every(
      (value) =>
        isJsonObject(value) &&
        getAnnotations(value).get('config.kubernetes.io/local-config') === 'true',
    )
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
  }
  return {
    path,
    isRecord: isRecordPath(path),
    marked: text.startsWith(`${INERT_LINE}\n`),
    localConfig,
  }
}

export function judgeKept(
  { tree }: Pick<BaseTree, 'tree'>,
  { retained }: SyncedRepository,
): readonly Finding[] {
  const count = tree.filter(({ path }) => isRecordPath(path)).length
  const records = retained.filter(({ path }) => path.startsWith(`${DRIFT_FOLDER}/records/`))
  const open = records.filter(({ marked, localConfig }) => !marked || !localConfig)
  if (open.length === 0)
    return [
      { check: 'records', state: 'passed', message: `records: ${count}, all inert for syncers` },
    ]
  return open.slice(0, 5).map(({ path }) => ({
    check: 'records',
    state: 'failed' as const,
    code: 'BP1007' as const,
    message: `records: ${path} has lost the marks that keep syncers from applying it`,
    fix: 'restore the file from the commit that wrote it; records are not edited by hand',
  }))
}

export async function checkLedger(
  repository: PackageRepository,
  { refs }: BaseTree,
  bot: BotIdentity,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const head = refs.refs.get(`refs/heads/${LEDGER_BRANCH}`)
  if (head === undefined)
    return [
      {
        check: 'ledger',
        state: 'passed',
        message: `${LEDGER_BRANCH}: does not exist yet, the first scan creates it`,
      },
    ]
  let count = 0
  for (let id: ObjectId | undefined = head; id !== undefined && count < MOST_COMMITS; count += 1) {
    const commit: CommitView = await repository.commit(id, signal)
    const { parents } = commit
    if (!hasBotIdentity({ ...commit, parents: parents.length === 0 ? [id] : parents }, bot)) {
      const message = `${LEDGER_BRANCH}: commit ${id.slice(0, 7)} is not from backporch`
      return [
        {
          check: 'ledger',
          state: 'warning',
          message,
          fix: `let only the bot push to ${LEDGER_BRANCH}`,
        },
      ]
    }
    id = parents[0]
  }
  const { signed } = await repository.commit(head, signal)
  const more = count === MOST_COMMITS ? 'the last ' : ''
  return [
    {
      check: 'ledger',
      state: 'passed',
      message: `${LEDGER_BRANCH}: ${more}${count} commit${count === 1 ? '' : 's'}, all of Backporch`,
    },
    ...(signed === false ? [createUnsignedLedgerFinding(head)] : []),
    ...(await checkObservations(repository, head, signal)),
  ]
}

/**
 * The first turn with a key signs; a later unsigned commit is foreign, or from a machine without a
 * key.
 */
function createUnsignedLedgerFinding(head: ObjectId): Finding {
  const message = `${LEDGER_BRANCH}: commit ${head.slice(0, 7)}, its last one, has no signature of the signing key`
  const fix = `scan once, and let only the bot push to ${LEDGER_BRANCH}`
  return { check: 'ledger', state: 'warning', message, fix }
}

/** Skips an unreadable report, which `ledger` reports. */
export async function readReports(
  repository: PackageRepository,
  { refs }: BaseTree,
  signal: AbortSignal,
): Promise<readonly DriftReport[]> {
  const head = refs.refs.get(`refs/heads/${LEDGER_BRANCH}`)
  if (head === undefined) return []
  return [
    ...(
      await readLedger(repository, await repository.list(head, '', signal), signal)
    ).reports.values(),
  ]
}

async function checkObservations(
  repository: PackageRepository,
  head: ObjectId,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const files = (await repository.list(head, 'clusters', signal)).filter(({ path }) =>
    /^[^/]+\/observation\.yaml$/.test(path),
  )
  const texts = await readTexts(repository, files, signal)
  return files.map(({ path }): Finding => {
    const where = `${LEDGER_BRANCH}:clusters/${path}`
    try {
      const { metadata, status } = parseDocument(
        texts.get(path) ?? '',
        clusterObservationSchema,
        where,
      )
      // The ledger has one commit per change, so it lacks the time of the last observation.
      const message = `${LEDGER_BRANCH}: the status of ${metadata.name} last changed ${status.changedAt}`
      return { check: 'ledger-age', state: 'passed', message }
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      return {
        check: 'ledger-age',
        state: 'warning',
        code: thrown.code,
        message: `${where} cannot be read`,
        fix: 'run scan, which rewrites it',
      }
    }
  })
}

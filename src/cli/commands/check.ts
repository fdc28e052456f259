/** A line that cannot be proven says so. A failed check does not stop the others. */
import type { PackageRepository } from '@backporch/git-store/package-repository'
import { listFailures } from '@backporch/kyaml/failure'
import type { Finding } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { PolicySet } from '../../policy/parse-policy.ts'
import type { Probes } from '../../ports/probes.ts'
import { checkHeads } from '../../reconcile/onboard/check-heads.ts'
import {
  judgePackages,
  type ReadPackages,
  readPackages,
} from '../../reconcile/onboard/check-packages.ts'
import { judgePipelines, readSweepingCommands } from '../../reconcile/onboard/check-pipelines.ts'
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
import { createHeadNotes } from '../../reconcile/repository/base-branch.ts'
import { isHosted } from '../../reconcile/repository/is-hosted.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import type { SyncedRepository } from '../../syncers/syncer.ts'
import type { CliContext, TurnContext } from '../context/cli-context.ts'
import { getAllowedFunctions, Progress } from '../flags/options.ts'
import { Printer } from '../print/printer.ts'
import { printList } from '../report/print-document.ts'
import { readOperatorPolicy } from '../session/turn-session.ts'
import {
  type Check,
  type CheckOptions,
  checkCluster,
  createPassedCheck,
  createWarningCheck,
} from './check-cluster.ts'

/** Names that no package has. Nothing is created under them. */
const REHEARSED = [
  ['refs/heads/drafts/backporch-check/drift-check', 'drafts/**'],
  ['refs/heads/proposed/backporch-check/drift-check', 'proposed/**'],
  ['refs/heads/drift-ledger', 'drift-ledger'],
  ['refs/tags/backporch-check/v0', 'tags'],
] as const

const NAME_BASE =
  'name the base branch with --branch, or correct the default branch of the repository'

/** @returns 1 if something failed */
export async function check(
  options: CheckOptions,
  cli: TurnContext & Pick<CliContext, 'probes'>,
): Promise<number> {
  const progress = new Progress(cli, options)
  const probes = await cli.probes()
  const findings: Finding[] = []
  const ask = async (name: string, work: () => Promise<readonly Finding[]>): Promise<void> => {
    progress.step(`checking ${name}`)
    findings.push(...(await guardCheck(name, work, cli)))
  }
  const base = await checkGit(options, probes, cli, ask)
  const packages = base === undefined ? undefined : listCheckedPackages(base, options, cli)
  const namespaces = (await packages?.catch(() => undefined))?.namespaces
  const synced = await checkCluster(
    { options, probes, cli, namespaces: namespaces ?? new Set() },
    ask,
  )
  // Cluster syncers name units without a Kptfile.
  if (packages !== undefined)
    await ask('packages', async () => judgePackages(await packages, synced))
  await ask('key', async () => [await checkKey(probes)])
  progress.end()
  print(findings, new Printer(cli, options))
  return findings.some(({ state }) => state === 'failed') ? 1 : 0
}

async function listCheckedPackages(
  { repository, branch, operator }: CheckedBase,
  options: CheckOptions,
  cli: Pick<CliContext, 'env' | 'openRenderer' | 'signal'>,
): Promise<ReadPackages> {
  const renderer = await cli.openRenderer(getAllowedFunctions(options, cli.env))
  return readPackages(repository, { branch, renderer, operator }, cli.signal)
}

async function guardCheck(
  name: string,
  work: () => Promise<readonly Finding[]>,
  cli: Pick<CliContext, 'signal'>,
): Promise<readonly Finding[]> {
  try {
    return await work()
  } catch (thrown) {
    cli.signal.throwIfAborted()
    return listFailures(thrown).map(({ code, what, why, remedy, where }) => ({
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

/** Policies define the rendering: undefined if they are unreadable, which is the finding. */
async function checkGit(
  options: CheckOptions,
  probes: Probes,
  cli: TurnContext,
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
  if (!usable) return undefined
  const repository = await cli.openRepository(options.repo, {
    readOnly: true,
    trace: new Printer(cli, options).trace,
  })
  let base: BaseTree | undefined
  await ask('git-read', async () => {
    base = await readBase(repository, options.branch, signal)
    const others = createHeadNotes(base.refs, options.branch).map(({ subject, text }) =>
      createWarningCheck('git-read', `git: ${subject}: ${text}`, NAME_BASE),
    )
    return [
      createPassedCheck(
        'git-read',
        `git: ${repository.remote} can be read, base branch ${base.branch}`,
      ),
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
    const operator = readOperatorPolicy(options, cli)
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
      if (isHosted(forge)) account = await forge.commits?.getAccount(signal)
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
    if (await probes.hasGitIdentity())
      return [createPassedCheck('git-identity', 'git: knows who you are')]
    const message = `git: has no user.name and user.email, so decisions made here are signed as ${convertToOneLine(await cli.userName())}`
    return [
      createWarningCheck(
        'git-identity',
        message,
        'git config --global user.name "…" and user.email',
      ),
    ]
  })
  return checked
}

function pushFinding(
  name: string,
  answer: 'let-through' | 'refused' | 'unclear',
  why: string,
): Finding {
  if (answer === 'let-through')
    return createPassedCheck('git-push', `git: no rule of the server refuses a push to ${name}`)
  if (answer === 'unclear')
    return {
      check: 'git-push',
      state: 'skipped',
      message: `git: cannot tell whether the server accepts a push to ${name}: ${why}`,
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

/** Signing is optional. */
async function checkSigningKey(probes: Probes): Promise<readonly Finding[]> {
  const found = await probes.signingKey()
  if (found === undefined) return []
  const message = `signing key: ${found.fingerprint}, from ${found.from}`
  if (!found.readByAll) return [createPassedCheck('signing-key', message)]
  const fix = `chmod 600 ${found.from}, or defaultMode: 0400 of the Secret's volume`
  return [
    createWarningCheck('signing-key', `${message}, which every user of this machine may read`, fix),
  ]
}

async function checkKey(probes: Probes): Promise<Finding> {
  const { from, path } = await probes.keySource()
  if (from === 'environment') return createPassedCheck('key', 'key: from BACKPORCH_KEY')
  if (from === 'file')
    return createPassedCheck(
      'key',
      `key: from ${path}; scans on other machines need the same key (BACKPORCH_KEY) to recognise what was decided`,
    )
  const message = `key: there is none yet; the first command that needs one creates ${path}`
  return createWarningCheck(
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
    const head = `${terminal.style(terminal.getGlyph(glyph), style)} ${code === undefined || state === 'passed' ? '' : `${code} `}`
    // A server must not send colours or line breaks.
    printer.write(`${head}${convertToOneLine(message, 1_000)}\n`)
    if (fix !== undefined) printer.write(`    fix: ${convertToOneLine(fix, 1_000)}\n`)
  }
  const count = (state: Finding['state']): number =>
    findings.filter((one) => one.state === state).length
  if (!printer.quiet) {
    printer.write(
      `${count('passed')} passed, ${count('warning')} ${count('warning') === 1 ? 'warning' : 'warnings'}, ${count('failed')} failed, ${count('skipped')} unknown\n`,
    )
  }
}

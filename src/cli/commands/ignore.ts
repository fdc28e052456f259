import { Failure } from '@backporch/kyaml/failure'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { Observation } from '../../plan/observation/observation.ts'
import {
  createUnitPolicy,
  formatPolicyFile,
  type IgnoreDocument,
} from '../../plan/unit/commands/comment-policy.ts'
import { createExactRules } from '../../plan/unit/commands/exact-rules.ts'
import { selectChanges } from '../../plan/unit/commands/select-changes.ts'
import { type PolicyFile, parsePolicyFiles } from '../../policy/parse-policy.ts'
import { readCodeOwners } from '../../reconcile/repository/read-base-text.ts'
import { readPolicyFiles } from '../../reconcile/repository/read-policies.ts'
import type { RepositoryView } from '../../reconcile/repository/repository-view.ts'
import { ignoreChange, proposePolicy } from '../../reconcile/turn/apply/propose-policy.ts'
import { runTurn } from '../../reconcile/turn/run-turn.ts'
import type { TurnContext } from '../context/cli-context.ts'
import type { IGNORE_FLAGS } from '../flags/command-flags.ts'
import type { ForgeOptions, ValuesOf } from '../flags/options.ts'
import { isTable } from '../flags/outputs.ts'
import type { Printer } from '../print/printer.ts'
import {
  formatShellWord,
  printPublished,
  resolveRepositoryLocation,
} from '../print/published-lines.ts'
import { formatEdit } from '../report/print-turn.ts'
import {
  getOnlyUnit,
  type PlannedUnit,
  runWithSession,
  type Session,
  type SessionOptions,
  splitArguments,
} from '../session/turn-session.ts'

type IgnoreOptions = SessionOptions & ForgeOptions & ValuesOf<typeof IGNORE_FLAGS>

/** Hides exactly the named lines of one package in one cluster, like the comment `/ignore`. */
export async function ignore(
  name: string | undefined,
  named: readonly string[],
  options: IgnoreOptions,
  cli: TurnContext,
): Promise<number> {
  assertNoList(options)
  const reason = getReason(options)
  const expires = computeLastDay(options, cli.clock.now())
  const { packages, selectors } = splitArguments(name, named)
  return runWithSession(
    cli,
    options,
    { packages, gitAlone: options.print === true },
    async (session) => {
      const result = await runTurn(session.ports, { ...session.request, mode: 'read' }, cli.signal)
      session.progress.end()
      const unit = getOnlyUnit(result, {
        none: 'no single package is selected',
        why: 'a rule is for one package in one cluster',
      })
      const rules = createExactRules({ ...selectChosen(unit, selectors), reason, expires })
      if (options.print === true) printPolicy(unit.observation, rules, session.printer)
      else await propose({ unit, view: result.view }, rules, session, options)
      if (expires === undefined)
        session.printer.hint('note: check warns of a rule without an end (--for 30d)')
      return 0
    },
  )
}

/** @throws Failure BP1011 if a selector matches nothing, or nothing is open */
function selectChosen({ observation, plan }: PlannedUnit, selectors: readonly string[]) {
  const { changes } = plan.report.spec
  const selected = selectChanges(selectors.length === 0 ? ['all'] : selectors, changes)
  const chosen = changes.filter(
    ({ fingerprint }) => selected === undefined || selected.has(fingerprint),
  )
  if (chosen.length === 0) throw createNothingToIgnore(observation)
  return { chosen, verdicts: observation.verdicts, key: observation.key }
}

function printPolicy(
  { unit }: Observation,
  rules: readonly IgnoreDocument[],
  printer: Printer,
): void {
  const text = formatPolicyFile(createUnitPolicy(unit, rules))
  // The printed policy must be valid when pasted.
  parsePolicyFiles([{ path: 'the printed policy', text } satisfies PolicyFile])
  printer.write(text)
  printer.hint(
    'note: commit it to a file .drift/NAME.policy for review, or add its rules to spec.ignore of a policy there',
  )
}

async function propose(
  { unit: planned, view }: { readonly unit: PlannedUnit; readonly view: RepositoryView },
  rules: readonly IgnoreDocument[],
  { ports: { forge }, printer }: Session,
  options: IgnoreOptions,
): Promise<void> {
  const { unit, key } = planned.observation
  const { ok, cli } = printer
  const { signal } = cli
  const change = await ignoreChange({ view, unit, signal }, rules)
  if (change === undefined) {
    printer.write(`${ok} such a rule already exists: backporch ignore --list lists it\n`)
    return
  }
  if (options.dryRun === true) {
    const before = new Map(
      (await readPolicyFiles(view.repository, view.tree, signal)).map(({ path, text }) => [
        path,
        text,
      ]),
    )
    printer.write(`${ok} would be proposed:\n`)
    for (const { path, text } of change.files)
      printer.write(formatEdit({ path, before: before.get(path) ?? '', after: text }, key, printer))
    return
  }
  const at = `${cli.clock.now().toISOString().slice(0, 19)}Z`
  const asker = { login: await cli.userName(), resolutionRequest: at, at, proposal: undefined }
  const codeOwners = await readCodeOwners(view, signal)
  const { ref, opened, updates } = await proposePolicy(
    { unit, view, forge, codeOwners, signal },
    change,
    asker,
  )
  const label =
    opened === undefined
      ? ref.replace(/^refs\/heads\//, '')
      : `${opened.label} ${opened.url}`.trim()
  printer.write(
    `${ok} proposed: ${convertToOneLine(label, 2_000)}\n  edits ${convertToOneLine(change.files.map(({ path }) => path).join(', '), 1_000)}\n`,
  )
  const location = await resolveRepositoryLocation(options, cli)
  const merge =
    opened === undefined && location.kind === 'clone'
      ? `: ${location.git} merge ${formatShellWord(label)}`
      : ''
  const into = opened === undefined ? ` into ${convertToOneLine(view.baseBranch, 300)}` : ''
  printer.write(`  next: review it, then merge it${into}${merge}; the rule holds from then on\n`)
  await printPublished(updates, view.baseBranch, options, printer)
}

function assertNoList({ output }: IgnoreOptions): void {
  if (isTable(output)) return
  throw new Failure({
    code: 'BP1001',
    what: `this command does not print -o ${output}`,
    why: 'it prints sentences; with --list it prints a list',
    remedy: 'remove it, or add --list',
  })
}

function getReason({ message }: IgnoreOptions): string {
  if (message !== undefined && message.trim() !== '') return message.trim()
  throw new Failure({
    code: 'BP1001',
    what: 'the rule has no reason',
    why: 'a rule needs a reason, so that later readers know why it exists',
    remedy: 'give one: -m "KEDA scales the shop"',
  })
}

function computeLastDay({ expires, for: seconds }: IgnoreOptions, now: Date): string | undefined {
  if (seconds === undefined) return expires
  if (expires !== undefined)
    throw new Failure({
      code: 'BP1001',
      what: '--for and --expires are both set',
      why: 'both set the end of the rule',
      remedy: 'remove one of them',
    })
  return new Date(now.getTime() + seconds * 1_000).toISOString().slice(0, 10)
}

function createNothingToIgnore({ unit: { packageName } }: Observation): Failure {
  return new Failure({
    code: 'BP1011',
    what: `${packageName} has nothing to ignore`,
    why: 'live agrees with git, or the differences are no drift already: they are hidden, or wait for the syncer',
    remedy: 'backporch diff --show-ignored lists what is hidden, and by which rule',
  })
}

import { Failure } from '../../failure.ts'
import { type IgnoreDocument, policyOfUnit } from '../../plan/commands/comment-policy.ts'
import { exactRules } from '../../plan/commands/exact-rules.ts'
import { isSelector, selectChanges } from '../../plan/commands/select-changes.ts'
import type { Observation } from '../../plan/turn/observation.ts'
import type { UnitPlan } from '../../plan/turn/unit-plan.ts'
import { type PolicyFile, parsePolicyFiles } from '../../policy/parse-policy.ts'
import { ignoreChange, policyFiles, proposePolicy } from '../../reconcile/apply/propose-policy.ts'
import { readCodeOwners } from '../../reconcile/repository/read-base-text.ts'
import type { RepositoryView } from '../../reconcile/repository/repository-view.ts'
import { runTurn } from '../../reconcile/run-turn.ts'
import { formatInertDocument } from '../../record/write-document.ts'
import { oneLine } from '../../text/one-line.ts'
import type { IGNORE_FLAGS } from '../flags/command-flags.ts'
import type { ForgeOptions, ValuesOf } from '../flags/options.ts'
import { formatEdit } from '../print/print-turn.ts'
import { printPublished, repositoryLocation, shellWord } from '../print/published-lines.ts'
import { Terminal } from '../print/terminal.ts'
import { type Session, type SessionOptions, withSession } from '../turn-session.ts'
import type { World } from '../world.ts'

type IgnoreOptions = SessionOptions & ForgeOptions & ValuesOf<typeof IGNORE_FLAGS>

/**
 * Proposes a policy whose rules hide exactly the named lines of one package in one cluster, as the comment `/ignore` does; with
 * `print` that policy is printed and nothing is written.
 */
export async function ignore(
  name: string | undefined,
  selectors: readonly string[],
  options: IgnoreOptions,
  world: World,
): Promise<number> {
  const reason = reasonOf(options)
  const expires = lastDay(options, world.clock.now())
  const lead = name !== undefined && isSelector(name) ? [name] : []
  const packages = name === undefined || lead.length > 0 ? [] : [name]
  return withSession(world, options, { packages, gitAlone: options.print === true }, async (session) => {
    const { units, view } = await runTurn(session.ports, { ...session.request, mode: 'read' }, world.signal)
    session.progress.end()
    const [unit, ...others] = units
    if (unit === undefined || others.length > 0) throw notOne(units.length)
    if (unit.state === 'failed') throw unit.failures[0]
    const rules = rulesOf(unit.observation, unit.plan, [...lead, ...selectors], reason, expires)
    if (options.print === true) printPolicy(unit.observation, rules, options, world)
    else await propose(unit.observation, rules, view, session, options, world)
    if (options.quiet !== true && expires === undefined) world.stderr.write('note: check warns of a rule without an end (--for 30d)\n')
    return 0
  })
}

/** @throws Failure BP1011 where a selector names nothing, or nothing is open */
function rulesOf(
  observed: Observation,
  plan: UnitPlan,
  selectors: readonly string[],
  reason: string,
  expires: string | undefined,
): readonly IgnoreDocument[] {
  const { changes } = plan.report.spec
  const selected = selectChanges(selectors.length === 0 ? ['all'] : selectors, changes)
  const chosen = changes.filter(({ fingerprint }) => selected === undefined || selected.has(fingerprint))
  if (chosen.length === 0) throw nothingToIgnore(observed)
  return exactRules({ chosen, verdicts: observed.verdicts, key: observed.key, reason, expires })
}

function printPolicy({ unit }: Observation, rules: readonly IgnoreDocument[], { quiet }: IgnoreOptions, world: World): void {
  const text = formatInertDocument(policyOfUnit(unit, rules))
  // What is pasted is read again: it has to be read as what was proven.
  parsePolicyFiles([{ path: 'the printed policy', text } satisfies PolicyFile])
  world.stdout.write(text)
  if (quiet !== true) world.stderr.write('note: commit it to .drift/ for review, or add its rules to spec.ignore of a policy there\n')
}

async function propose(
  { unit, key }: Observation,
  rules: readonly IgnoreDocument[],
  view: RepositoryView,
  { ports: { forge } }: Session,
  options: IgnoreOptions,
  world: World,
): Promise<void> {
  const { signal } = world
  const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
  const ok = terminal.style(terminal.glyph('ok'), 'green')
  const change = await ignoreChange({ view, unit, signal }, rules)
  if (change === undefined) {
    world.stdout.write(`${ok} such a rule already exists: backporch get ignores lists it\n`)
    return
  }
  if (options.dryRun === true) {
    const before = new Map((await policyFiles(view, signal)).map(({ path, text }) => [path, text]))
    world.stdout.write(`${ok} would be proposed:\n`)
    for (const { path, text } of change.files)
      world.stdout.write(formatEdit({ path, before: before.get(path) ?? '', after: text }, key, terminal, world))
    return
  }
  const at = `${world.clock.now().toISOString().slice(0, 19)}Z`
  const asker = { login: await world.userName(), resolutionRequest: at, at, proposal: undefined }
  const codeOwners = await readCodeOwners(view, signal)
  const { ref, opened, updates } = await proposePolicy({ unit, view, forge, codeOwners, signal }, change, asker)
  const label = opened === undefined ? ref.replace(/^refs\/heads\//, '') : `${opened.label} ${opened.url}`.trim()
  world.stdout.write(
    `${ok} proposed: ${oneLine(label, 2_000)}\n  edits ${oneLine(change.files.map(({ path }) => path).join(', '), 1_000)}\n`,
  )
  const location = await repositoryLocation(options, world)
  const merge = opened === undefined && location.kind === 'clone' ? `: ${location.git} merge ${shellWord(label)}` : ''
  const into = opened === undefined ? ` into ${oneLine(view.baseBranch, 300)}` : ''
  world.stdout.write(`  next: review it, then merge it${into}${merge}; the rule holds from then on\n`)
  await printPublished(updates, view.baseBranch, options, world)
}

function reasonOf({ message }: IgnoreOptions): string {
  if (message !== undefined && message.trim() !== '') return message.trim()
  throw new Failure({
    code: 'BP1001',
    what: 'the rule has no reason',
    why: 'a rule needs a reason, so that later readers know why it exists',
    remedy: 'give one: -m "KEDA scales the shop"',
  })
}

/** `--for 30d` counts from now. */
function lastDay({ expires, for: seconds }: IgnoreOptions, now: Date): string | undefined {
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

function notOne(count: number): Failure {
  return new Failure({
    code: 'BP1011',
    what: count === 0 ? 'no single package is selected' : `${count} packages are selected`,
    why: 'a rule is for one package in one cluster',
    remedy: 'name one package',
  })
}

function nothingToIgnore({ unit: { packageName } }: Observation): Failure {
  return new Failure({
    code: 'BP1011',
    what: `nothing of ${packageName} is to be ignored`,
    why: 'live agrees with git, or what differs is no drift already: it is hidden, or waits for the syncer',
    remedy: 'backporch diff --show-ignored lists what is hidden, and by which rule',
  })
}

import { itemFingerprint } from '../../drift/compare/fingerprint.ts'
import { NOISE_RULES, ruleNamed } from '../../drift/noise/presets.ts'
import { RISK_RULES } from '../../drift/risk/risk.ts'
import { exitCodeOf, FAILURE_CODES, Failure, type FailureCode } from '../../failure.ts'
import { NOTE_CAUSES, type NoteCause } from '../../note.ts'
import { type SelectableLine, selectChanges } from '../../plan/commands/select-changes.ts'
import type { Observation } from '../../plan/turn/observation.ts'
import type { UnitPlan } from '../../plan/turn/unit-plan.ts'
import { TENANCY_RULES, type TenancyRule } from '../../policy/tenancy-rules.ts'
import { runTurn } from '../../reconcile/run-turn.ts'
import { showChange } from '../../record/build-report.ts'
import type { CliContext } from '../cli-context.ts'
import type { AuditOptions } from '../flags/options.ts'
import { originsOf } from '../print/change-origins.ts'
import { type ExplainedLine, explainLines, RULE_ORDER, type UnprovenLine, unprovenLines, wrapped } from '../print/explain-lines.ts'
import { FAILURE_GUIDE } from '../print/failure-guide.ts'
import { NOTE_GUIDE } from '../print/note-guide.ts'
import { applierLines, rolloutLines } from '../print/print-applier.ts'
import { Terminal } from '../print/terminal.ts'
import { heldSentence } from '../print/unit-cells.ts'
import { type SessionOptions, splitArguments, withSession } from '../turn-session.ts'

type ExplainOptions = SessionOptions & AuditOptions

export async function explain(what: string, selectors: readonly string[], options: ExplainOptions, cli: CliContext): Promise<number> {
  const lines = explainCode(what, new Terminal(cli.stdout, { color: 'never', ascii: false, env: cli.env }).width)
  if (lines === undefined) return explainPackage(what, selectors, options, cli)
  cli.stdout.write(`${lines.join('\n')}\n`)
  return 0
}

/** Undefined for a package. @throws Failure BP1001 for an unknown code */
function explainCode(what: string, width: number): readonly string[] | undefined {
  const code = what.toUpperCase()
  if (Object.hasOwn(FAILURE_CODES, code)) {
    const known = code as FailureCode
    const { cause, fix } = FAILURE_GUIDE[known]
    return [`${known}: ${FAILURE_CODES[known]}`, ...wrapped('cause: ', cause, width), ...wrapped('fix: ', fix, width), exitLine(known)]
  }
  const rule = RISK_RULES.find((candidate) => candidate.code === code)
  if (rule !== undefined) return [`${rule.code}: ${rule.why}`, `risk ${rule.risk}`]
  if (Object.hasOwn(TENANCY_RULES, code))
    return [`${code}: ${TENANCY_RULES[code as TenancyRule]}`, `${FAILURE_CODES.BP3017} (BP3017), exit code 3`]
  const preset = what.startsWith('preset:') ? ruleNamed(what) : undefined
  if (preset !== undefined) return [`${what}: ${preset.reason}`, preset.mutes, `see ${preset.link}`]
  const cause = noteCause(what)
  if (cause !== undefined) return [`note ${cause}: it is about ${NOTE_CAUSES[cause]}`, ...wrapped('fix: ', NOTE_GUIDE[cause], width)]
  if (!/^(BP[0-9]+|[A-Z]+(-[A-Z]+)+|preset:.*|note:.*)$/.test(what)) return undefined
  throw new Failure({
    code: 'BP1001',
    what: `there is no code ${what}`,
    why: 'codes are BPnnnn for errors, those that diff prints behind the risk, preset:NAME for what is no drift, and note:CAUSE for notes',
    remedy: what.startsWith('preset:')
      ? `presets are ${NOISE_RULES.map(({ name }) => name).join(', ')}`
      : what.startsWith('note:')
        ? `causes are ${Object.keys(NOTE_CAUSES).join(', ')}`
        : `risk codes are ${RISK_RULES.map((rule) => rule.code).join(', ')}`,
  })
}

/** `note:CAUSE`; without the prefix only where no folder has such a name as a rule: one with a hyphen. */
function noteCause(what: string): NoteCause | undefined {
  const name = what.replace(/^note:/, '')
  return Object.hasOwn(NOTE_CAUSES, name) && (name !== what || name.includes('-')) ? (name as NoteCause) : undefined
}

/** Codes of single objects, which do not end a command. */
const OF_AN_OBJECT: ReadonlySet<FailureCode> = new Set(['BP3011', 'BP3012', 'BP3017', 'BP4011'])

function exitLine(code: FailureCode): string {
  const ends = `exit code ${exitCodeOf(code)}`
  return OF_AN_OBJECT.has(code) ? `exit code 3 where it is said of an object, ${exitCodeOf(code)} where it ends the command` : ends
}

async function explainPackage(what: string, named: readonly string[], options: ExplainOptions, cli: CliContext): Promise<number> {
  const { packages, selectors } = splitArguments(what, named)
  return withSession(cli, options, { packages, gitAlone: true, readOnly: true }, async ({ ports, request, progress, printer }) => {
    const result = await runTurn(ports, { ...request, mode: 'read' }, cli.signal)
    progress.end()
    for (const unit of result.units) {
      if (unit.state === 'failed') throw unit.failures[0]
      printer.write(explanation(unit.observation, unit.plan, selectors, printer.terminal.width))
    }
    return 0
  })
}

function explanation(observed: Observation, plan: UnitPlan, selectors: readonly string[], width: number): string {
  const { policy, unit } = observed
  const lines = [
    `${unit.packageName} in ${unit.cluster}: ${plan.report.status.state}`,
    `mode ${policy.mode} <- ${policy.chain.join(' > ')}`,
    `syncer ${observed.syncer === undefined ? 'not found: the objects do not say who applied them' : `${observed.syncer.manager} (${observed.syncer.operation})`}`,
    `applier ${observed.applier.name}`,
    ...applierLines(observed.applier).map((line) => `   ${line}`),
    ...rolloutLines(observed.health),
    ...wrapped('rules ', RULE_ORDER, width),
  ]
  const all = numberedLines(observed, plan)
  const unproven = observed.incomplete.map((incomplete, index): UnprovenLine => ({ number: all.length + index + 1, incomplete }))
  const selected = selectChanges(
    selectors,
    [...all.map(({ change }) => change), ...unproven.map((line) => selectable(line, unit.packageName))],
    all.filter(({ aside }) => aside === undefined).length,
  )
  const shown = all.filter(({ change }) => selected === undefined || selected.has(change.fingerprint))
  const everyRule = selected !== undefined || shown.length <= FEW
  const reported = new Set<ExplainedLine['verdict']>()
  const originOf = originsOf(observed)
  for (const line of shown) {
    lines.push(
      '',
      ...explainLines(line, observed, {
        width,
        everyRule,
        unheard: !reported.has(line.verdict),
        origin: originOf(line.drift, line.verdict),
      }),
    )
    reported.add(line.verdict)
  }
  for (const line of unproven)
    if (selected === undefined || selected.has(nameOf(line))) lines.push('', ...unprovenLines(line, unit.packageName, width))
  if (!everyRule) lines.push('', `each rule with its answer: backporch explain ${unit.packageName} ${shown[0]?.number ?? 1}`)
  // Without a record, the branch does not exist yet.
  if (plan.openBranches.some(({ ref }) => ref === `refs/heads/${plan.branch}`)) lines.push('', `branch ${plan.branch}`)
  if (plan.report.status.held !== undefined) lines.push(heldSentence(plan.report.status.held))
  return `${lines.join('\n')}\n`
}

/** Differs from every fingerprint of a change. */
function nameOf({ number }: UnprovenLine): string {
  return `unproven ${number}`
}

function selectable(line: UnprovenLine, packageName: string): SelectableLine {
  const { ref, state } = line.incomplete
  return {
    ref: ref ?? { group: '', kind: 'Package', namespace: '', name: packageName },
    change: state ?? 'not observed',
    fingerprint: nameOf(line),
  }
}

/** Up to so many lines are explained with every rule. */
const FEW = 3

/** Changes by the numbers of `diff`, followed by the differences that are no drift. */
function numberedLines({ verdicts, key }: Observation, plan: UnitPlan): ExplainedLine[] {
  const found = verdicts.flatMap((verdict) => verdict.items.map((drift) => ({ drift, verdict })))
  const byFingerprint = new Map(found.map((one) => [itemFingerprint(one.drift, key), one]))
  const open = plan.report.spec.changes.flatMap((change) => {
    const one = byFingerprint.get(change.fingerprint)
    return one === undefined ? [] : [{ ...one, change, aside: undefined }]
  })
  const aside = verdicts.flatMap((verdict) =>
    verdict.setAside.map((one) => ({
      drift: one.drift,
      verdict,
      change: showChange({ drift: one.drift, resolution: 'Restore', desired: verdict.desired }, key),
      aside: one,
    })),
  )
  return [...open, ...aside].map((line, index) => ({ ...line, number: index + 1 }))
}

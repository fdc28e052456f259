import { computeItemFingerprint } from '../../drift/compare/fingerprint.ts'
import type { Observation } from '../../plan/observation/observation.ts'
import type { UnitPlan } from '../../plan/observation/unit-plan.ts'
import { type SelectableLine, selectChanges } from '../../plan/unit/commands/select-changes.ts'
import { createLastGoodNotes } from '../../policy/last-good-policy.ts'
import { runTurn } from '../../reconcile/turn/run-turn.ts'
import { showChange } from '../../record/build-report.ts'
import type { TurnContext } from '../context/cli-context.ts'
import { Terminal } from '../context/terminal.ts'
import type { AuditOptions } from '../flags/options.ts'
import { createOriginFormatter } from '../print/change-origins.ts'
import {
  type ExplainedLine,
  explainLines,
  formatUnprovenLines,
  RULE_ORDER,
  type UnprovenLine,
  wrapText,
} from '../print/explain-lines.ts'
import { formatApplierLines, formatRolloutLines } from '../print/print-applier.ts'
import { printNotes } from '../print/print-notes.ts'
import { describeHeld } from '../print/unit-cells.ts'
import { runWithSession, type SessionOptions, splitArguments } from '../session/turn-session.ts'
import { addNearestCodes, explainCode } from './explain-code.ts'

type ExplainOptions = SessionOptions & AuditOptions

export async function explain(
  what: string,
  selectors: readonly string[],
  options: ExplainOptions,
  cli: TurnContext,
): Promise<number> {
  const lines = explainCode(
    what,
    new Terminal(cli.stdout, { color: 'never', ascii: false, env: cli.env }).width,
  )
  if (lines !== undefined) {
    cli.stdout.write(`${lines.join('\n')}\n`)
    return 0
  }
  try {
    return await explainPackage(what, selectors, options, cli)
  } catch (thrown) {
    throw addNearestCodes(thrown, what)
  }
}

async function explainPackage(
  what: string,
  named: readonly string[],
  options: ExplainOptions,
  cli: TurnContext,
): Promise<number> {
  const { packages, selectors } = splitArguments(what, named)
  return runWithSession(
    cli,
    options,
    { packages, gitAlone: true, readOnly: true },
    async ({ ports, request, progress, printer }) => {
      const result = await runTurn(ports, { ...request, mode: 'read' }, cli.signal)
      progress.end()
      printNotes(createLastGoodNotes(result.view.policies), printer)
      for (const unit of result.units) {
        if (unit.state === 'failed') throw unit.failures[0]
        printer.write(
          formatExplanation(unit.observation, unit.plan, selectors, printer.terminal.width),
        )
      }
      return 0
    },
  )
}

function formatExplanation(
  observed: Observation,
  plan: UnitPlan,
  selectors: readonly string[],
  width: number,
): string {
  const { policy, unit } = observed
  const lines = [
    `${unit.packageName} in ${unit.cluster}: ${plan.report.status.state}`,
    `mode ${policy.mode} <- ${policy.chain.join(' > ')}`,
    `syncer ${observed.syncer === undefined ? 'not found: the objects do not say who applied them' : `${observed.syncer.manager} (${observed.syncer.operation})`}`,
    `applier ${observed.applier.name}`,
    ...formatApplierLines(observed.applier).map((line) => `   ${line}`),
    ...formatRolloutLines(observed.health),
    ...wrapText('rules ', RULE_ORDER, width),
  ]
  const all = numberLines(observed, plan)
  const unproven = observed.incomplete.map(
    (incomplete, index): UnprovenLine => ({ number: all.length + index + 1, incomplete }),
  )
  const selected = selectChanges(
    selectors,
    [
      ...all.map(({ change }) => change),
      ...unproven.map((line) => createSelectableLine(line, unit.packageName)),
    ],
    all.filter(({ aside }) => aside === undefined).length,
  )
  const shown = all.filter(
    ({ change }) => selected === undefined || selected.has(change.fingerprint),
  )
  const everyRule = selected !== undefined || shown.length <= FEW
  const reported = new Set<ExplainedLine['verdict']>()
  const originOf = createOriginFormatter(observed)
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
    if (selected === undefined || selected.has(getName(line)))
      lines.push('', ...formatUnprovenLines(line, unit.packageName, width))
  if (!everyRule)
    lines.push(
      '',
      `each rule with its answer: backporch explain ${unit.packageName} ${shown[0]?.number ?? 1}`,
    )
  // Without a record, the branch does not exist yet.
  if (plan.openBranches.some(({ ref }) => ref === `refs/heads/${plan.branch}`))
    lines.push('', `branch ${plan.branch}`)
  if (plan.report.status.held !== undefined) lines.push(describeHeld(plan.report.status.held))
  return `${lines.join('\n')}\n`
}

function getName({ number }: UnprovenLine): string {
  return `unproven ${number}`
}

function createSelectableLine(line: UnprovenLine, packageName: string): SelectableLine {
  const { ref, state } = line.incomplete
  return {
    ref: ref ?? { group: '', kind: 'Package', namespace: '', name: packageName },
    change: state ?? 'not observed',
    fingerprint: getName(line),
  }
}

const FEW = 3

function numberLines({ verdicts, key }: Observation, plan: UnitPlan): ExplainedLine[] {
  const found = verdicts.flatMap((verdict) => verdict.items.map((drift) => ({ drift, verdict })))
  const byFingerprint = new Map(found.map((one) => [computeItemFingerprint(one.drift, key), one]))
  const open = plan.report.spec.changes.flatMap((change) => {
    const one = byFingerprint.get(change.fingerprint)
    return one === undefined ? [] : [{ ...one, change, aside: undefined }]
  })
  const aside = verdicts.flatMap((verdict) =>
    verdict.setAside.map((one) => ({
      drift: one.drift,
      verdict,
      change: showChange(
        { drift: one.drift, resolution: 'Restore', desired: verdict.desired },
        key,
      ),
      aside: one,
    })),
  )
  return [...open, ...aside].map((line, index) => ({ ...line, number: index + 1 }))
}

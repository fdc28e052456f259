import type { Drift } from '../../drift/drift.ts'
import { describeRulePath, isActive, whyNotIgnored } from '../../drift/ignore-rules.ts'
import { RISK_RULES } from '../../drift/risk.ts'
import { exitCodeOf, FAILURE_CODES, Failure, type FailureCode } from '../../failure.ts'
import { describeResourceId } from '../../krm/resource-id.ts'
import { shownPath } from '../../krm/shown-path.ts'
import type { Observation } from '../../plan/observation.ts'
import { allChanges } from '../../plan/pick-changes.ts'
import type { UnitPlan } from '../../plan/plan-reconcile.ts'
import { isSelector, selectChanges } from '../../plan/select-changes.ts'
import { runTurn } from '../../reconcile/run-turn.ts'
import { oneLine } from '../../record/one-line.ts'
import { heldSentence } from '../held-text.ts'
import type { CommonOptions } from '../options.ts'
import { applierLines } from '../print-applier.ts'
import { withSession } from '../turn-session.ts'
import type { World } from '../world.ts'

export async function explain(what: string, selectors: readonly string[], options: CommonOptions, world: World): Promise<number> {
  return explainCode(what, world) ?? (await explainPackage(what, selectors, options, world))
}

function explainCode(what: string, world: World): number | undefined {
  const code = what.toUpperCase()
  if (Object.hasOwn(FAILURE_CODES, code)) {
    const known = code as FailureCode
    world.stdout.write(`${known}: ${FAILURE_CODES[known]}\nexit code ${exitCodeOf(known)}\n`)
    return 0
  }
  const rule = RISK_RULES.find((candidate) => candidate.code === code)
  if (rule !== undefined) {
    world.stdout.write(`${rule.code}: ${rule.why}\nrisk ${rule.risk}\n`)
    return 0
  }
  if (!/^(BP[0-9]+|[A-Z]+-[A-Z]+)$/.test(what)) return undefined
  throw new Failure({
    code: 'BP1001',
    what: `there is no code ${what}`,
    why: 'codes are BPnnnn for errors, and those that diff prints behind the risk',
    remedy: `risk codes are ${RISK_RULES.map((rule) => rule.code).join(', ')}`,
  })
}

async function explainPackage(what: string, selectors: readonly string[], options: CommonOptions, world: World): Promise<number> {
  const lead = isSelector(what) ? [what] : []
  return withSession(
    world,
    options,
    lead.length > 0 ? [] : [what],
    async ({ ports, request, progress }) => {
      const result = await runTurn(ports, { ...request, dryRun: true }, world.signal)
      progress.end()
      for (const unit of result.units) {
        if (unit.state === 'failed') throw unit.failures[0]
        world.stdout.write(explanation(unit.observation, unit.plan, [...lead, ...selectors]))
      }
      return 0
    },
    'not-asked',
  )
}

function explanation(seen: Observation, plan: UnitPlan, selectors: readonly string[]): string {
  const { policy, unit } = seen
  const lines = [
    `${unit.packageName} in ${unit.cluster}: ${plan.report.status.state}`,
    `mode ${policy.mode} <- ${policy.chain.join(' > ')}`,
    `syncer ${seen.syncer === undefined ? 'not found: nobody applied the objects' : `${seen.syncer.manager} (${seen.syncer.operation})`}`,
    `applier ${seen.applier.name}`,
    ...applierLines(seen.applier).map((line) => `   ${line}`),
  ]
  const { changes } = plan.report.spec
  const selected = selectChanges(selectors, changes)
  const drifts = new Map(allChanges(seen.verdicts, seen.key).map(({ fingerprint, drift }) => [fingerprint, drift]))
  changes.forEach((change, index) => {
    const drift = drifts.get(change.fingerprint)
    if (drift === undefined || (selected !== undefined && !selected.has(change.fingerprint))) return
    const rule = RISK_RULES.find(({ code }) => code === change.reason)
    lines.push(
      '',
      `${index + 1}  ${oneLine(describeResourceId(drift.id))}  ${oneLine(change.path ?? drift.change, 200)}  (${drift.change})`,
      `   plan ${change.resolution}, risk ${change.risk} ${change.reason}: ${rule?.why ?? ''}`,
      `   by ${describeActor(drift)}`,
      ...rulesTried(drift, seen),
      ...drift.notes.map((note) => `   ${note}`),
    )
  })
  for (const verdict of seen.verdicts) {
    for (const { drift, state, why } of verdict.setAside) {
      lines.push(
        '',
        `-  ${oneLine(describeResourceId(drift.id))}  ${oneLine(shownPath(seen.key, drift.id, drift.path) || drift.change, 200)}`,
        `   ${state}: ${oneLine(why, 300)}`,
      )
    }
  }
  if (plan.branch !== '') lines.push('', `branch ${plan.branch}`)
  if (plan.report.status.held !== undefined) lines.push(heldSentence(plan.report.status.held))
  return `${lines.join('\n')}\n`
}

function describeActor({ actor }: Drift): string {
  if (actor.confidence === 'none')
    return 'an unknown writer: the server keeps no trace of a write that only removes, or of who deleted an object'
  const how = actor.confidence === 'field-manager' ? 'owns the field' : 'the only other writer of the object'
  const subresource = actor.subresource === '' ? '' : ` on ${actor.subresource}`
  return `${oneLine(actor.manager, 60)} (${actor.operation}${subresource}, ${actor.class}), ${how}; its last write ${actor.at === '' ? 'has no time' : `was at ${actor.at}`}`
}

function rulesTried(drift: Drift, { policy, cluster }: Observation): string[] {
  if (policy.ignore.length === 0) return ['   not ignored: there is no ignore rule']
  const today = cluster.observedAt.slice(0, 10)
  const tried = policy.ignore.map((rule) => {
    const what = rule.paths.map(describeRulePath).join(', ') || rule.managers.join(', ') || 'target'
    return `${rule.where} ${what} (${isActive(rule, today) ? (whyNotIgnored(drift, rule) ?? 'matches') : `expired ${rule.expires}`})`
  })
  return [`   not ignored, ${policy.ignore.length} ${policy.ignore.length === 1 ? 'rule' : 'rules'} tried: ${tried.join('; ')}`]
}

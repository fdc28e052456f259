/**
 * Formats the plan of a dry run for `-o json`: the actions that `applyTurn` would execute, without
 * hidden values and without the texts of other people.
 */
import type { ForgeComment, KnownProposal } from '@backporch/forge/hosted-forge'
import type { Observation } from '../../plan/observation/observation.ts'
import { getActionKey } from '../../plan/turn/pushed-units.ts'
import type { ActionUnit, TextCommit, TurnAction } from '../../plan/turn/turn-action.ts'
import type { TurnResult } from '../../reconcile/turn/run-turn.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import { redactShownText, type VisibilityFor } from '../../record/shown-text.ts'

export type PrintedAction = NonNullable<DriftReportList['actions']>[number]

/** @param visibilityOf the visibility of values in files of a unit */
export function formatActions(
  { plan, units }: Pick<TurnResult, 'plan' | 'units'>,
  visibilityOf: (observation: Observation) => VisibilityFor,
): readonly PrintedAction[] {
  const planned = units.flatMap((unit) => (unit.state === 'planned' ? [unit] : []))
  const observed = new Map(
    [...planned, ...plan.decided].map(({ unit, observation }) => [getActionKey(unit), observation]),
  )
  const [first] = observed.values()
  const textOf: TextOf = (unit) => (text) => {
    const own = unit === undefined ? undefined : observed.get(getActionKey(unit))
    const key = (own ?? first)?.key
    const visibility = own === undefined ? undefined : visibilityOf(own)
    const shown = key === undefined ? undefined : redactShownText(text, key, visibility)
    return shown === undefined ? { hidden: true } : { text: shown }
  }
  return plan.actions.map((action) => formatAction(action, textOf))
}

type TextOf = (
  unit?: ActionUnit,
) => (text: string) => { readonly text: string } | { readonly hidden: true }

function formatAction(action: TurnAction, textOf: TextOf): PrintedAction {
  switch (action.kind) {
    case 'push': {
      const pushed = (unit: (typeof action.units)[number]) => ({
        ...unit,
        writes: {
          ...unit.writes,
          commits: unit.writes.commits.map((commit) => formatCommit(commit, textOf(unit))),
        },
      })
      return {
        ...action,
        units: action.units.map(pushed),
        decided: action.decided.map(pushed),
      }
    }
    case 'land':
      return { ...action, commit: formatCommit(action.commit, textOf()) }
    case 'propose': {
      const { known, ...proposal } = action.action
      return {
        ...action,
        action: known === undefined ? proposal : { ...proposal, known: formatProposalName(known) },
      }
    }
    case 'forge':
      return 'proposal' in action.write && typeof action.write.proposal === 'object'
        ? {
            ...action,
            write: { ...action.write, proposal: formatProposalName(action.write.proposal) },
          }
        : { ...action }
    case 'acknowledge':
      return { ...action, comments: action.comments.map(omitBody) }
    case 'answer':
      return {
        ...action,
        comments: action.comments.map(omitBody),
        answers: action.answers.map(({ policy, ...answer }) =>
          policy === undefined
            ? answer
            : {
                ...answer,
                policy: {
                  ...policy,
                  change: {
                    ...policy.change,
                    files: policy.change.files.map(({ path, text }) => ({
                      path,
                      ...textOf()(text),
                    })),
                  },
                },
              },
        ),
      }
    default:
      return { ...action }
  }
}

function formatCommit({ changes, ...commit }: TextCommit, textOf: ReturnType<TextOf>): object {
  return {
    ...commit,
    changes: changes.map(({ path, content }) => {
      if (content === null) return { path, content }
      const shown = textOf(content)
      return 'text' in shown ? { path, content: shown.text } : { path, ...shown }
    }),
  }
}

/** People may have edited its text. */
function formatProposalName({ number, label, url, state }: KnownProposal): object {
  return { number, label, url, state }
}

function omitBody({ body: _body, ...comment }: ForgeComment): object {
  return comment
}

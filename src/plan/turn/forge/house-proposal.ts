import type { ForgeDialect, KnownProposal, WantedProposal } from '@backporch/forge/hosted-forge'
import { formatHouseSubject, type HouseRules } from '../../../policy/house-rules.ts'

export function reserveFooterSpace(
  dialect: ForgeDialect,
  { pullRequest: { footer } }: HouseRules,
): ForgeDialect {
  return footer === undefined
    ? dialect
    : { ...dialect, bodyLimit: dialect.bodyLimit - footer.length - 2 }
}

export function applyHouseRules<Wanted extends Omit<WantedProposal, 'commit'>>(
  wanted: Wanted,
  { pullRequest }: HouseRules,
  known: Pick<KnownProposal, 'state' | 'draft'> | undefined,
): Wanted {
  const { title, reviewers, assignees, labels, milestone, draft, footer } = pullRequest
  return {
    ...wanted,
    title: formatHouseSubject(wanted.title, title),
    body: footer === undefined ? wanted.body : `${wanted.body.trimEnd()}\n\n${footer.trimEnd()}\n`,
    labels: [...new Set([...wanted.labels, ...labels])],
    draft: wanted.draft || (draft && (known?.state !== 'open' || known.draft)),
    reviewers: [...new Set([...wanted.reviewers, ...reviewers])],
    assignees,
    milestone,
  }
}

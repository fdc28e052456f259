import type { RefUpdate } from '@backporch/git-store/package-repository'
import { shortenBranch } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import { convertToOneLine } from '@backporch/kyaml/text'
import type { PendingSettle } from '../../unit/pending-settles.ts'
import type { ForgeAction } from './forge-action.ts'

export function describeUpdate({ ref, from, to }: RefUpdate): string {
  const verb = from === null ? 'create' : to === null ? 'delete' : 'update'
  const kind = ref.startsWith('refs/tags/') ? 'tag' : 'branch'
  return `${verb} ${kind} ${convertToOneLine(ref.replace(/^refs\/(?:heads|tags)\//, ''), 300)}`
}

/**
 * `open a pull request from proposed/apps/web/drift-1a2b3c4d: "chore(drift): …" (labels: drift)`, and
 * `set the commit statuses of proposed/apps/web/drift-1a2b3c4d: drift/fresh success, drift/policy pending`
 */
export function describeWrite(write: ForgeAction): string {
  switch (write.kind) {
    case 'proposal': {
      const { known, wanted } = write
      const verb =
        known?.state === 'open'
          ? `update pull request ${convertToOneLine(known.label, 60)}`
          : `open a pull request from ${formatShortRef(wanted.ref)}`
      const labels = wanted.labels.length === 0 ? '' : ` (labels: ${wanted.labels.join(', ')})`
      return `${verb}: "${convertToOneLine(wanted.title, 300)}"${convertToOneLine(labels, 300)}`
    }
    case 'statuses':
      return `set the commit statuses of ${formatTarget(write.commit)}: ${write.statuses
        .map(({ context, state }) => `${context} ${state}`)
        .join(', ')}`
    case 'check-run':
      return `set the check run of ${formatTarget(write.commit)}`
    case 'comment':
      return `write the ${write.topic} comment on #${write.proposal}`
    case 'issue':
      return `write the issue ${write.topic}`
    case 'stays-open':
      return `check whether ${convertToOneLine(write.proposal.label, 60)} is merged`
    case 'close-proposal':
      return `close pull request ${convertToOneLine(write.proposal.label, 60)}`
    case 'close-issue':
      return `close the issue ${write.topic}`
  }
}

export function describeSettle({ record, cluster }: PendingSettle): string {
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore').length
  return `apply ${restored} approved ${restored === 1 ? 'change' : 'changes'} of ${record.metadata.name} to ${cluster}`
}

function formatTarget(commit: ObjectId | { readonly headOf: string }): string {
  return typeof commit === 'string' ? commit.slice(0, 8) : formatShortRef(commit.headOf)
}

function formatShortRef(ref: string): string {
  return convertToOneLine(shortenBranch(ref), 300)
}

import type { RefUpdate } from '@backporch/git-store/package-repository'
import { shortBranch } from '@backporch/git-store/ref-name'
import type { ObjectId } from '@backporch/kyaml/files'
import { oneLine } from '@backporch/kyaml/text'
import type { PendingSettle } from '../../unit/pending-settles.ts'
import type { ForgeAction } from './forge-action.ts'

export function describeUpdate({ ref, from, to }: RefUpdate): string {
  const verb = from === null ? 'create' : to === null ? 'delete' : 'update'
  const kind = ref.startsWith('refs/tags/') ? 'tag' : 'branch'
  return `${verb} ${kind} ${oneLine(ref.replace(/^refs\/(?:heads|tags)\//, ''), 300)}`
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
          ? `update pull request ${oneLine(known.label, 60)}`
          : `open a pull request from ${shortRef(wanted.ref)}`
      const labels = wanted.labels.length === 0 ? '' : ` (labels: ${wanted.labels.join(', ')})`
      return `${verb}: "${oneLine(wanted.title, 300)}"${oneLine(labels, 300)}`
    }
    case 'statuses':
      return `set the commit statuses of ${targetOf(write.commit)}: ${write.statuses
        .map(({ context, state }) => `${context} ${state}`)
        .join(', ')}`
    case 'check-run':
      return `set the check run of ${targetOf(write.commit)}`
    case 'comment':
      return `write the ${write.topic} comment on #${write.proposal}`
    case 'issue':
      return `write the issue ${write.topic}`
    case 'stays-open':
      return `look whether ${oneLine(write.proposal.label, 60)} is merged`
    case 'close-proposal':
      return `close pull request ${oneLine(write.proposal.label, 60)}`
    case 'close-issue':
      return `close the issue ${write.topic}`
  }
}

export function describeSettle({ record, cluster }: PendingSettle): string {
  const restored = record.spec.changes.filter(({ resolution }) => resolution === 'Restore').length
  return `apply ${restored} approved ${restored === 1 ? 'change' : 'changes'} of ${record.metadata.name} to ${cluster}`
}

function targetOf(commit: ObjectId | { readonly headOf: string }): string {
  return typeof commit === 'string' ? commit.slice(0, 8) : shortRef(commit.headOf)
}

function shortRef(ref: string): string {
  return oneLine(shortBranch(ref), 300)
}

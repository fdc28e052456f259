/** The files of a proposal about the package of `resolved-changes.ts`. */
import { NO_FUNCTIONS } from '@backporch/kpt/function'
import { buildProposal, type ProposalInput } from '../../src/proposal/build-proposal.ts'
import { RENDERED_BY_KPT } from '../../src/sources/build/render-choice.ts'
import type { ResolvedChange } from '../../src/sources/edits/resolution-edits.ts'
import { filesOf } from './pipeline-files.ts'
import { PACKAGE } from './resolved-changes.ts'

export const RECORD = {
  path: '.drift/records/prod/apps--web/20261121-1a2b3c4d.yaml',
  content: new TextEncoder().encode('record\n'),
}

export function inputOf(
  changes: readonly ResolvedChange[],
  more: Partial<ProposalInput> = {},
): ProposalInput {
  return {
    packagePath: 'apps/web',
    files: filesOf(PACKAGE),
    pipeline: false,
    functions: NO_FUNCTIONS,
    choice: RENDERED_BY_KPT,
    changes,
    plan: 'Mixed',
    workspace: 'drift-1a2b3c4d',
    lifecycle: 'Proposed',
    record: RECORD,
    ...more,
  }
}

/** Changed files by path; `null` for a deleted one. */
export function built(
  changes: readonly ResolvedChange[],
  more: Partial<ProposalInput> = {},
): { readonly [path: string]: string | null } {
  const files = buildProposal(inputOf(changes, more)).changes
  return Object.fromEntries(
    files.map(({ path: name, content }) => [
      name,
      content === null ? null : new TextDecoder().decode(content),
    ]),
  )
}

/**
 * The edited package is rendered again, and rejected unless exactly the chosen fields changed
 * (design §8).
 */
import type { FileChange } from '@backporch/git-store/package-repository'
import { editYaml } from '@backporch/kyaml/edit-yaml'
import { catchFailure, Failure } from '@backporch/kyaml/failure'
import { createFieldStep } from '@backporch/kyaml/field'
import type { Note } from '@backporch/kyaml/note'
import { describeResourceId } from '@backporch/kyaml/resource'
import type { Derived } from '@backporch/kyaml/text'
import { LRUCache } from 'lru-cache'
import type { Plan } from '../record/documents/drift-record.ts'
import type { RenderChoice } from '../sources/build/render-choice.ts'
import type { EditInput, SourceEditor } from '../sources/build/source.ts'
import { joinRemovals } from '../sources/edits/joined-removals.ts'
import type { ResolvedChange } from '../sources/edits/resolution-edits.ts'
import { joinFolderPath } from '../sources/kustomize/files/kustomization-walk.ts'
import { getSource } from '../sources/registry.ts'

export interface ProposalInput extends EditInput {
  readonly choice: RenderChoice
  readonly plan: Plan
  readonly workspace: string
  readonly lifecycle: 'Draft' | 'Proposed'
  readonly record: FileChange
  readonly derived?: Derived
}

export interface ProposalFiles {
  readonly changes: readonly FileChange[]
  readonly notes: readonly Note[]
}

/** @throws Failure BP1207, BP2001, BP2002, BP2007, BP2010 or BP2014 when a resolution is not possible */
export function buildProposal(input: ProposalInput): ProposalFiles {
  const notes: Note[] = []
  const { edit } = getSource(input.choice)
  const edited = edit.place(input, editJoined(edit, input, notes))
  notes.push(...input.changes.flatMap(createNotProvenNotes))
  const kptfiles = input.files.some(({ path }) => path === 'Kptfile')
    ? [editKptfile(input, edited)]
    : []
  const sources = edited.filter(({ path }) => !kptfiles.some((kptfile) => kptfile.path === path))
  return { changes: [...sources, ...kptfiles, input.record], notes }
}

/** As a whole or, if no source contains the whole, piece by piece. */
function editJoined(
  { apply }: SourceEditor,
  input: ProposalInput,
  notes: Note[],
): readonly FileChange[] {
  const joined = joinRemovals(input.changes)
  const whole =
    joined === input.changes ? undefined : catchFailure(() => apply({ ...input, changes: joined }))
  const edited = whole === undefined || whole instanceof Failure ? apply(input) : whole
  notes.push(...edited.notes)
  return edited.changes
}

function createNotProvenNotes({ drift, whole }: ResolvedChange): readonly Note[] {
  if (whole?.unproven === undefined) return []
  const text = `no dry run proved the manifest, so it may have defaults of the server: ${whole.unproven}`
  return [{ cause: 'manifest-not-proven', subject: describeResourceId(drift.id), text }]
}

const REASONS = { Adopt: 'Adopted', Release: 'Released', Restore: 'RestoreApproved' } as const

/** Comma-separated, which a condition reason may contain (docs/facts/condition-reasons.md). */
function describeReason({ plan, changes }: ProposalInput): string {
  if (plan !== 'Mixed') return REASONS[plan]
  const decided = new Set(changes.map(({ resolution }) => REASONS[resolution]))
  return Object.values(REASONS)
    .filter((reason) => decided.has(reason))
    .join(',')
}

/**
 * `status.conditions[type=Drifted]`, with only fields that kpt 1.0.0-beta.56 knows
 * (docs/facts/kptfile-strictness.md). The edit also wakes a syncer that filters commits by path.
 */
function editKptfile(input: ProposalInput, sources: readonly FileChange[]): FileChange {
  const path = joinFolderPath(input.packagePath, 'Kptfile')
  const before =
    sources.find((change) => change.path === path)?.content ?? getFileContent(input, path)
  const draft = input.lifecycle === 'Draft'
  const condition = {
    type: 'Drifted',
    status: draft ? 'True' : 'False',
    reason: draft ? 'DriftDetected' : describeReason(input),
    message: input.workspace,
  }
  const location = [
    createFieldStep('status'),
    createFieldStep('conditions'),
    { kind: 'item', keys: { type: 'Drifted' } },
  ] as const
  const edited = (): Uint8Array =>
    encodeText(
      editYaml(
        decodeText(before),
        [{ document: 0, item: undefined, kind: 'set', path: location, value: condition }],
        path,
      ),
    )
  // Each cluster with the package makes the same edit in every turn.
  const known = input.derived?.get(
    before,
    'edited',
    [],
    () => new LRUCache<string, Uint8Array>({ maxSize: MOST_EDITED, sizeCalculation: () => 1 }),
  )
  const wanted = JSON.stringify([path, condition])
  const content = known?.get(wanted) ?? edited()
  known?.set(wanted, content)
  return { path, content }
}

const MOST_EDITED = 500

function getFileContent(input: ProposalInput, path: string): Uint8Array {
  const relative = path.slice(joinFolderPath(input.packagePath, '').length)
  const file = input.files.find((candidate) => candidate.path === relative)
  if (file === undefined) throw new TypeError(`the package has no file ${path}`)
  return file.content
}

function decodeText(content: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
}

export function createLazyFile(path: string, text: () => string): FileChange {
  return {
    path,
    get content() {
      return encodeText(text())
    },
  }
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

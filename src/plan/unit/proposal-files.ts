import type { FileChange } from '@backporch/git-store/package-repository'
import { formatNoteSentence, type Note } from '@backporch/kyaml/note'
import { omitUndefined } from '@backporch/kyaml/text'
import { buildProposal, createLazyFile, type ProposalFiles } from '../../proposal/build-proposal.ts'
import { reportPath } from '../../proposal/text/proposal-footer.ts'
import { reportText, wantsReport } from '../../proposal/text/report-text.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import {
  convertToPresentPath,
  formatTravellingRecordPath,
  recordPath,
} from '../../record/record-paths.ts'
import { appendLastDocument, deferText, formatInertDocument } from '../../record/write-document.ts'
import type { GitState, Observation } from '../observation/observation.ts'
import { addManifests, checkAdopted } from './adopted-objects.ts'
import type { PlannedChange } from './commands/pick-changes.ts'

interface RecordedFiles extends ProposalFiles {
  readonly record: DriftRecord
}

/** @throws as `buildRecordFiles`, and BP2001 for an object that the server refuses */
export function buildProposalFiles(
  ...[observation, active, record, workspace]: Parameters<typeof buildRecordFiles>
): RecordedFiles {
  const files = buildRecordFiles(observation, active, record, workspace)
  return { ...files, notes: [...files.notes, ...checkAdopted(observation, active)] }
}

/**
 * @param workspace a joint proposal's may have another unit's name
 * @throws Failure BP1207, BP2001, BP2002, BP2007, BP2010 or BP2014 when a resolution is not
 * possible
 */
export function buildRecordFiles(
  observation: Observation,
  active: readonly PlannedChange[],
  decided: DriftRecord,
  workspace = decided.metadata.name,
): RecordedFiles {
  const { unit, git, pipeline, functions, built, policy, key } = observation
  const { spec } = decided
  let text = (): string => ''
  const files = buildProposal({
    packagePath: unit.packagePath,
    files: git.files,
    pipeline,
    choice: policy.render,
    functions,
    built,
    changes: addManifests(observation, active),
    plan: spec.plan,
    workspace,
    lifecycle: spec.lifecycle,
    record: createLazyFile(recordPath(unit.cluster, unit.slug, spec.began, spec.episode), () =>
      text(),
    ),
    derived: key.derived,
  })
  const record = addNotes(decided, files.notes)
  text = deferText(record, formatInertDocument)
  const changes = [
    ...files.changes,
    ...(spec.lifecycle === 'Proposed' ? git.earlierNamed.flatMap(moveRecord) : []),
    ...(policy.approval === 'porch'
      ? [createLazyFile(formatTravellingRecordPath(unit.packagePath), text)]
      : []),
    // No pull request body has room for all of it.
    ...(spec.lifecycle === 'Proposed' && wantsReport(record)
      ? [createLazyFile(reportPath(unit.cluster, unit.slug), () => reportText(record))]
      : []),
  ]
  return { ...files, changes, record }
}

function addNotes({ spec, ...record }: DriftRecord, notes: readonly Note[]): DriftRecord {
  const told = notes.filter(({ cause }) => cause === 'shared-source').map(formatNoteSentence)
  const { notes: _before, policy, settle, keyId, copies, ...rest } = spec
  return {
    ...record,
    spec: {
      ...rest,
      ...(told.length === 0 ? {} : { notes: told }),
      policy,
      settle,
      keyId,
      ...omitUndefined({ copies }),
    },
  }
}

function moveRecord({ path, text }: GitState['earlierNamed'][number]): readonly FileChange[] {
  return [
    { path, content: null },
    createLazyFile(convertToPresentPath(path), () => appendLastDocument(text)),
  ]
}

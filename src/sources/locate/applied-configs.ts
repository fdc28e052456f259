/**
 * kpt also applies the ConfigMap of `apply-setters`, unless it has the annotation
 * `config.kubernetes.io/local-config`. An edit of a setter then also moves this object
 * (docs/adr/0053).
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import type { StepRun } from '@backporch/kpt/function'
import { cleanPath } from '@backporch/kpt/package'
import { formatFieldPath } from '@backporch/kyaml/field'
import { getKey, isJsonArray, isJsonObject, type Json } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { describeResourceId } from '@backporch/kyaml/resource'
import { listMoved, type MovedField } from '../edits/moved-fields.ts'
import type { FileEdit } from '../edits/resolution-edits.ts'

export const WHY_APPLIED =
  'the config of a function is also an object of the cluster, because it has no annotation config.kubernetes.io/local-config: "true"'
export const REMEDY_APPLIED =
  'annotate the config with config.kubernetes.io/local-config: "true" and commit that, if only functions read it; or choose restore; or edit the config by hand, if the object should change too'

const REFERENCES = new Set(['configMap', 'configMapKeyRef', 'configMapRef'])

export class AppliedConfigs {
  private readonly files: ReadonlySet<string>
  private readonly desired: readonly DesiredResource[]

  constructor(runs: readonly StepRun[], desired: readonly DesiredResource[]) {
    this.files = new Set(
      runs.flatMap(({ step }) => {
        const { configPath } = step.function
        return configPath === undefined
          ? []
          : [step.kptfile.slice(0, step.kptfile.lastIndexOf('/') + 1) + cleanPath(configPath)]
      }),
    )
    this.desired = desired
  }

  has({ resource: { location } }: MovedField): boolean {
    return location.step === undefined && this.files.has(location.path)
  }

  /** The entry that an edit sets, in a config that no pod of the package reads. */
  isEntry(moved: MovedField, edits: readonly FileEdit[]): boolean {
    const { resource, path } = moved
    return (
      this.has(moved) &&
      edits.some(
        ({ path: file, edit }) =>
          edit.kind === 'set' &&
          file === resource.location.path &&
          edit.document === resource.location.document &&
          formatFieldPath(edit.path) === formatFieldPath(path),
      ) &&
      !this.desired.some(({ object }) => refersTo(object, resource.id.name))
    )
  }
}

export function createAppliedNotes(entries: readonly MovedField[]): readonly Note[] {
  return entries.map((moved) => ({
    cause: 'config-applied',
    subject: describeResourceId(moved.resource.id),
    text: `the edit also changes ${listMoved([moved])}: ${WHY_APPLIED}`,
  }))
}

function refersTo(value: Json, name: string): boolean {
  if (isJsonArray(value)) return value.some((item) => refersTo(item, name))
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(
    ([key, below]) =>
      (REFERENCES.has(key) && isJsonObject(below) && getKey(below, 'name') === name) ||
      refersTo(below, name),
  )
}

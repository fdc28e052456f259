/** ConfigMaps of one field as a recorded cluster has them: live, and what an apply of anything that git may say would give. */
import { computePredictionKey, RECORDING } from '@backporch/cluster/recording'
import { readResource } from '@backporch/kyaml/resource'

export const COLOURS = ['blue', 'red', 'green'] as const
export type Colour = (typeof COLOURS)[number]

/** Who wrote the field last: the syncer, or a person. */
export interface LiveColour {
  readonly color: Colour
  readonly by: 'ci' | 'kubectl-edit'
  readonly at: Date
  /** Defaults to `settings`. */
  readonly name?: string
}

/** For `--live`, as JSON. */
export function recordingOf(live: readonly LiveColour[]): object {
  const items = live.flatMap((one) => [
    configMap(one),
    ...COLOURS.map((desired) => {
      const { color, by, name = 'settings' } = one
      const read = readResource({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'shop' },
        data: { color: desired },
      })
      if ('problem' in read) throw new TypeError(read.problem)
      const object = configMap({ ...one, color: desired, by: desired === color ? by : 'ci' })
      const spec = { key: computePredictionKey(read, 'ci'), fieldManager: 'ci', object }
      return {
        apiVersion: RECORDING.apiVersion,
        kind: RECORDING.prediction,
        metadata: { name: `${name}-${desired}` },
        spec,
      }
    }),
  ])
  return { apiVersion: 'v1', kind: 'List', items }
}

/** The object as `kubectl get -o json --show-managed-fields` gives it. */
export function configMap({ color, by, at, name = 'settings' }: LiveColour): object {
  const time = `${at.toISOString().slice(0, 19)}Z`
  const entry = (manager: string, operation: string, fieldsV1: object): object => ({
    ...{ manager, operation, apiVersion: 'v1', time, fieldsType: 'FieldsV1', fieldsV1 },
  })
  const data = { 'f:data': { 'f:color': {} } }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'shop',
      uid: `6f1c7f0e-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0').slice(-12)}`,
      resourceVersion: String(at.getTime()),
      managedFields:
        by === 'ci'
          ? [entry('ci', 'Apply', data)]
          : [entry('ci', 'Apply', {}), entry(by, 'Update', data)],
    },
    data: { color },
  }
}

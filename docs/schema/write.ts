/** Writes the JSON Schemas of every document that Backporch reads or writes, from the one zod definition of each. */
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { controllerConfigSchema } from '../../src/cli/config/controller-config.ts'
import { driftPolicySchema, placementSchema } from '../../src/policy/schema.ts'
import { clusterObservationSchema } from '../../src/record/cluster-observation.ts'
import { previewSchema } from '../../src/record/preview.ts'
import { pushedBranchSchema } from '../../src/record/pushed-branch.ts'
import { closedEpisodeSchema, driftRecordSchema, driftReportListSchema, driftReportSchema } from '../../src/record/schema.ts'

export const SCHEMAS = {
  'drift-report': driftReportSchema,
  'drift-report-list': driftReportListSchema,
  'drift-record': driftRecordSchema,
  'closed-episode': closedEpisodeSchema,
  'cluster-observation': clusterObservationSchema,
  'pushed-branch': pushedBranchSchema,
  preview: previewSchema,
  'drift-policy': driftPolicySchema,
  placement: placementSchema,
  'controller-config': controllerConfigSchema,
} as const

/** The text of one schema file. */
export function schemaText(name: keyof typeof SCHEMAS): string {
  const schema = z.toJSONSchema(SCHEMAS[name], { target: 'draft-2020-12', io: 'input', unrepresentable: 'any' })
  return `${JSON.stringify({ $id: `https://backporch.dev/schema/${name}.json`, title: name, ...schema }, null, 2)}\n`
}

if (import.meta.main) {
  for (const name of Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[])
    writeFileSync(new URL(`${name}.json`, import.meta.url), schemaText(name))
}

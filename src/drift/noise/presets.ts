import { AUTOSCALING_RULES } from './autoscaling.ts'
import { CONTROL_PLANE_RULES } from './control-plane.ts'
import { CONTROLLER_FIELD_RULES } from './controller-fields.ts'
import { DECLARED_RULES } from './declared-noise.ts'
import { DEFAULTED_RULES } from './defaulted-fields.ts'
import { INJECTION_RULES } from './injection.ts'
import { MERGED_SECRET_RULES } from './merged-secrets.ts'
import type { NoiseRule } from './noise-rule.ts'
import { PLATFORM_RULES } from './platforms.ts'
import { SYNCER_METADATA_RULES } from './syncer-metadata.ts'

export const NOISE_RULES: readonly NoiseRule[] = [
  ...AUTOSCALING_RULES,
  ...INJECTION_RULES,
  ...CONTROL_PLANE_RULES,
  ...CONTROLLER_FIELD_RULES,
  ...MERGED_SECRET_RULES,
  ...PLATFORM_RULES,
  ...SYNCER_METADATA_RULES,
  ...DECLARED_RULES,
  ...DEFAULTED_RULES,
]

export const PRESET = 'preset:'
export const RECOMMENDED = 'preset:recommended'
export const NONE = 'preset:none'

export const PRESET_NAMES: readonly string[] = [
  RECOMMENDED,
  NONE,
  ...NOISE_RULES.map(formatPresetName),
]

export function formatPresetName({ name }: Pick<NoiseRule, 'name'>): string {
  return `${PRESET}${name}`
}

/** @param names undefined is the shipped default */
export function listPresetRules(names: readonly string[] | undefined): readonly string[] {
  if (names === undefined || names.includes(RECOMMENDED)) return NOISE_RULES.map(({ name }) => name)
  return NOISE_RULES.filter((rule) => names.includes(formatPresetName(rule))).map(
    ({ name }) => name,
  )
}

/** @param name with or without `preset:` */
export function findRuleByName(name: string): NoiseRule | undefined {
  const bare = name.startsWith(PRESET) ? name.slice(PRESET.length) : name
  return NOISE_RULES.find((rule) => rule.name === bare)
}

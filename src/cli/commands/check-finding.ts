/** What the parts of `check` share: the options, how one of them asks, and the findings that it makes. */
import type { Finding } from '@backporch/kyaml/note'
import type { CHECK_FLAGS } from '../flags/command-flags.ts'
import type {
  ClusterOptions,
  ForgeOptions,
  FunctionOptions,
  OutputOptions,
  RepositoryOptions,
  ValuesOf,
} from '../flags/options.ts'

/** `pre`: before the installation, checks that only writing needs are skipped or only warn. */
export type CheckOptions = ValuesOf<typeof CHECK_FLAGS> &
  RepositoryOptions &
  ForgeOptions &
  FunctionOptions &
  ClusterOptions &
  OutputOptions

export type Check = (name: string, work: () => Promise<readonly Finding[]>) => Promise<void>

export function passed(check: string, message: string): Finding {
  return { check, state: 'passed', message }
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, state: 'warning', message, fix }
}

import type { Unavailable } from '../programs/build-programs.ts'
import { findPackaged } from '../programs/find-packaged.ts'
import type { Environment } from '../programs/go-build.ts'

/** How to run Prometheus. */
export interface PrometheusBinaries {
  readonly state: 'ready'
  readonly prometheus: string
  readonly promtool: string
}

/** Those on the `PATH`. Debian 12 has version 2.42, with which all tests pass. */
export async function findPrometheus(
  environment: Environment = process.env,
): Promise<PrometheusBinaries | Unavailable> {
  const found = await findPackaged('prometheus', ['prometheus', 'promtool'], environment)
  return found.state === 'unavailable' ? found : { state: 'ready', ...found.paths }
}

/** What the command line of the daemon says. */
import { InvalidArgumentError } from 'commander'
import type { LogFormat, LogLevel } from '../../ports/log.ts'
import type { ListenAddress } from '../world.ts'
import type { CommonOptions } from './options.ts'
import type { SelectionOptions } from './selection-flags.ts'

export interface ControllerOptions extends CommonOptions, Pick<SelectionOptions, 'package' | 'selector'> {
  /** Milliseconds between two turns. */
  readonly interval?: number
  readonly webhookAddress?: ListenAddress
  readonly auditWebhookAddress?: ListenAddress
  readonly logFormat?: LogFormat
  readonly logLevel?: LogLevel
}

const LOOPBACK = '127.0.0.1'

/** `HOST:PORT`, `[::1]:PORT`, `:PORT` or `PORT`. Nothing but loopback is listened on unless it was written down. */
export function listenAddress(text: string): ListenAddress {
  const [, six, name, port = ''] = /^(?:(?:\[([0-9a-f:.%]+)\]|([a-z0-9.-]*)):)?([0-9]{1,5})$/i.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) throw new InvalidArgumentError('wanted HOST:PORT, as in 127.0.0.1:8080 or [::]:8080')
  return { host: six ?? (name || LOOPBACK), port: Number(port) }
}

/** Whether nobody but this machine reaches it. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

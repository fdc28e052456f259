import { describeKills } from './kill-at-writes.ts'
import { REQUESTED } from './scenarios-requested.ts'

describeKills('commands', REQUESTED)

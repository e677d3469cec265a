/** Its workers as docker-compose.yml has them: a process each, with the protocol’s own times. */

import './cluster.test.ts'

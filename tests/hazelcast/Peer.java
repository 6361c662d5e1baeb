// A Hazelcast member in a process of its own, and in the same process a client of Hazelcast's own library, which does
// what it is told on standard input, a line at a time, and answers each with a line. It ends with its standard input.
//
//   java -cp hazelcast.jar:FOLDER Peer CLUSTER PORT OTHER-PORT
import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

public class Peer {
  static final String HOST = "127.0.0.1";

  static HazelcastInstance member;
  static HazelcastInstance client;
  static String cluster;
  static int port;

  public static void main(String[] arguments) throws Exception {
    cluster = arguments[0];
    port = Integer.parseInt(arguments[1]);
    member = Hazelcast.newHazelcastInstance(memberConfig(Integer.parseInt(arguments[2])));
    System.out.println("up");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(answer(line.split(" ")));
    }
    Runtime.getRuntime().halt(0);
  }

  static Config memberConfig(int otherPort) {
    Config config = new Config();
    config.setClusterName(cluster);
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    config.setProperty("hazelcast.max.wait.seconds.before.join", "0");
    config.setProperty("hazelcast.client.cleanup.period.millis", "500");
    config.setProperty("hazelcast.client.cleanup.timeout.millis", "1000");
    // It may be started again at a port where connections have just ended.
    config.getNetworkConfig().setPort(port).setPortAutoIncrement(false).setReuseAddress(true);
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface(HOST);
    config.getNetworkConfig().getJoin().getAutoDetectionConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
    config.getNetworkConfig().getJoin().getTcpIpConfig().setEnabled(true)
        .setMembers(Arrays.asList(HOST + ":" + port, HOST + ":" + otherPort));
    return config;
  }

  // As the seed uses it: no value is ever put into the map.
  static IMap<String, Object> locks(String map) {
    if (client == null) {
      ClientConfig config = new ClientConfig();
      config.setClusterName(cluster);
      config.getNetworkConfig().addAddress(HOST + ":" + port);
      client = HazelcastClient.newHazelcastClient(config);
    }
    return client.getMap(map);
  }

  static String answer(String[] words) {
    try {
      switch (words[0]) {
        case "members":
          return Integer.toString(member.getCluster().getMembers().size());
        case "safe":
          return Boolean.toString(member.getPartitionService().isClusterSafe());
        case "owner":  // of a key: whether it is this member
          return Boolean.toString(member.getPartitionService().getPartition(words[1]).getOwner().localMember());
        case "try":  // MAP KEY WAIT-MS LEASE-MS
          return Boolean.toString(locks(words[1]).tryLock(words[2], Long.parseLong(words[3]), TimeUnit.MILLISECONDS,
              Long.parseLong(words[4]), TimeUnit.MILLISECONDS));
        case "unlock":
          locks(words[1]).unlock(words[2]);
          return "done";
        case "force":
          locks(words[1]).forceUnlock(words[2]);
          return "done";
        case "locked":
          return Boolean.toString(locks(words[1]).isLocked(words[2]));
        case "cycles":  // MAP THREADS SECONDS: how many locks and unlocks a second, and the slow ones' time
          return Cycles.run(locks(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
        default:
          return "what is " + words[0] + "?";
      }
    } catch (Exception error) {
      return error.getClass().getSimpleName();
    }
  }

  // Each thread locks and unlocks keys of its own: what a lock costs, not what contention does.
  static class Cycles {
    static String run(IMap<String, Object> map, int threads, int seconds) throws Exception {
      long[][] times = new long[threads][];
      Thread[] workers = new Thread[threads];
      for (int i = 0; i < threads; i++) {
        final int number = i;
        workers[i] = new Thread(() -> times[number] = cycle(map, number, seconds));
        workers[i].start();
      }
      for (Thread worker : workers) {
        worker.join();
      }
      long[] all = Arrays.stream(times).flatMapToLong(Arrays::stream).sorted().toArray();
      return all.length / seconds + " " + all[all.length / 100 * 99] / 1000;
    }

    static long[] cycle(IMap<String, Object> map, int number, int seconds) {
      long[] times = new long[4096];
      int count = 0;
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
      for (long begin = System.nanoTime(); begin < end; count++) {
        String key = "bench::" + number + "-" + count % 1000;
        map.lock(key, 60_000, TimeUnit.MILLISECONDS);
        map.unlock(key);
        long now = System.nanoTime();
        if (count == times.length) {
          times = Arrays.copyOf(times, count * 2);
        }
        times[count] = now - begin;
        begin = now;
      }
      return Arrays.copyOf(times, count);
    }
  }
}
